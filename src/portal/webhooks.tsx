import { Hono } from 'hono';
import { type Circuit, circuitsOf } from '../deliveries/circuits.ts';
import { deliveriesByHour, type HourCount } from '../deliveries/hours.ts';
import { listDeliveries, statuses } from '../deliveries/queries.ts';
import { replay } from '../deliveries/replay.ts';
import { Refusal } from '../errors.ts';
import type { App, Context } from '../http/context.ts';
import { ACCIDENT, EVENT, notificationTypes } from '../notifications/types.ts';
import { deleteWebhook, findWebhook, listWebhooks, type Webhook } from '../webhooks/service.ts';
import { sendTestAccident, sendTestEvent } from '../webhooks/simulate.ts';
import { Confirm, Post, page, Status, Table, Time } from './layout.tsx';

/** Webhooks, and what became of their deliveries. */
export const webhookPages = new Hono<App>()
  .get('/webhooks', list)
  .get('/webhooks/:id', detail)
  .get('/webhooks/:id/delete', confirmDelete)
  .post('/webhooks/:id/delete', remove)
  .post('/webhooks/:id/replay', replayAll)
  .post('/webhooks/:id/test-event', async (c) => tryIt(c, sendTestEvent))
  .post('/webhooks/:id/test-accident', async (c) => tryIt(c, sendTestAccident));

/** The webhook that the path names. @throws Refusal: not found, also for another account's */
export async function requireWebhook(c: Context): Promise<Webhook> {
  const webhook = await findWebhook(c.env, c.get('caller'), c.req.param('id') ?? '');
  if (!webhook) throw new Refusal({ kind: 'not found' });
  return webhook;
}

/** Notification types in words. */
export const typeNames = { [ACCIDENT]: 'accidents', [EVENT]: 'events' };
const typesOf = ({ notificationTypes }: Webhook) =>
  notificationTypes.map((type) => typeNames[type]).join(' and ');

async function list(c: Context) {
  const webhooks = await listWebhooks(c.env, c.get('caller'));
  const ids = webhooks.map(({ id }) => id);
  const caller = c.get('caller');
  const [circuits, hours] = await Promise.all([
    circuitsOf(c.env, caller, ids),
    deliveriesByHour(c.env, caller, ids, Date.now()),
  ]);
  return page(
    c,
    'Webhooks',
    <>
      <p>
        <a href="/portal/webhooks/new">Add a webhook</a>
      </p>
      {webhooks.length > 0 && <Chart hours={hours} />}
      {webhooks.length === 0 ? (
        <p>None yet. A webhook is an address of yours that we call when something happens.</p>
      ) : (
        <Table caption="Webhooks" head={['Address', 'Asks for', 'Connections', 'Health', 'Created']}>
          {webhooks.map((webhook) => (
            <tr>
              <th scope="row">
                <a href={`/portal/webhooks/${webhook.id}`}>{webhook.url}</a>
              </th>
              <td>{typesOf(webhook)}</td>
              <td>{webhook.connectionIds.length}</td>
              <td>
                <Health circuit={circuits.get(webhook.id)} />
              </td>
              <td>
                <Time at={webhook.createdAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>,
  );
}

const Health = ({ circuit }: { circuit: Circuit | undefined }) =>
  !circuit?.failures ? (
    <span class="tag good">healthy</span>
  ) : circuit.openUntil > Date.now() ? (
    <span class="tag bad">paused after {circuit.failures} failures</span>
  ) : (
    <span class="tag wait">{circuit.failures} failed in a row</span>
  );

async function detail(c: Context) {
  const webhook = await requireWebhook(c);
  const { status, type, before } = c.req.query();
  const chosen = statuses.find((one) => one === status);
  const kind = notificationTypes.find((one) => String(one) === type);
  const caller = c.get('caller');
  const [hours, circuits, deliveries] = await Promise.all([
    deliveriesByHour(c.env, caller, [webhook.id], Date.now()),
    circuitsOf(c.env, caller, [webhook.id]),
    listDeliveries(c.env, caller, { webhookId: webhook.id, status: chosen, type: kind, before, limit: 21 }),
  ]);
  const shown = deliveries.slice(0, 20);
  const path = `/portal/webhooks/${webhook.id}`;
  const filtered = (by: {
    status?: string | undefined;
    type?: number | undefined;
    before?: string | undefined;
  }) => {
    const query = Object.entries(by).flatMap(([name, value]) => (value ? [[name, String(value)]] : []));
    return query.length ? `${path}?${new URLSearchParams(query)}` : path;
  };
  return page(
    c,
    'Webhook',
    <>
      <p>
        <code>
          {webhook.httpVerb} {webhook.url}
        </code>
      </p>
      <p>
        Asks for {typesOf(webhook)} of {webhook.connectionIds.length} connection
        {webhook.connectionIds.length === 1 ? '' : 's'}.{' '}
        {Object.keys(webhook.headers).length > 0 && `Sends ${Object.keys(webhook.headers).join(', ')}.`}
      </p>
      <div class="actions">
        <a href={`${path}/edit`}>Edit</a>
        <Post to={`${path}/test-event`} name="Send a test event" quiet />
        <Post to={`${path}/test-accident`} name="Simulate an accident" quiet />
        <Post to={`${path}/replay`} name="Replay all failed" quiet />
        <a href={`${path}/delete`}>Delete</a>
      </div>
      <div data-live>
        <p>
          <Health circuit={circuits.get(webhook.id)} />
        </p>
        <Chart hours={hours} />
        <h2>Deliveries</h2>
        <nav aria-label="Filter by status and type">
          <ul>
            {[undefined, ...statuses].map((one) => (
              <li>
                <a
                  href={filtered({ status: one, type: kind })}
                  aria-current={one === chosen ? 'true' : undefined}
                >
                  {one ?? 'any status'}
                </a>
              </li>
            ))}
          </ul>
          <ul>
            {[undefined, ...notificationTypes].map((one) => (
              <li>
                <a
                  href={filtered({ status: chosen, type: one })}
                  aria-current={one === kind ? 'true' : undefined}
                >
                  {one ? typeNames[one] : 'any type'}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        {shown.length === 0 ? (
          <p>None.</p>
        ) : (
          <Table caption="Deliveries" head={['Notification', 'Status', 'Attempts', 'Last attempt']}>
            {shown.map((delivery) => (
              <tr>
                <th scope="row">
                  <a href={`${path}/deliveries/${delivery.id}`}>
                    {delivery.type === ACCIDENT ? `accident, level ${delivery.level}` : 'event'}
                  </a>
                </th>
                <td>
                  <Status status={delivery.status} />
                </td>
                <td>{delivery.attempts}</td>
                <td>
                  <Time at={delivery.log.at(-1)?.at ?? null} />
                </td>
              </tr>
            ))}
          </Table>
        )}
        {deliveries.length > 20 && (
          <a href={filtered({ status: chosen, type: kind, before: shown.at(-1)?.id })}>Older</a>
        )}
      </div>
    </>,
  );
}

/** Deliveries of the last 24 hours, hour by hour: delivered upwards from the line, failed downwards. */
const Chart = ({ hours }: { hours: HourCount[] }) => {
  const most = Math.max(1, ...hours.map(({ delivered, failed }) => Math.max(delivered, failed)));
  const [delivered, failed] = hours.reduce(([d, f], hour) => [d + hour.delivered, f + hour.failed], [0, 0]);
  const says = `In the last 24 hours ${delivered} deliveries arrived and ${failed} failed.`;
  return (
    <figure>
      <svg class="chart" viewBox="0 0 240 60" preserveAspectRatio="none" role="img" aria-label={says}>
        {hours.map((hour, i) => (
          <>
            <rect
              class="ok"
              x={i * 10 + 1}
              width={8}
              y={40 - (hour.delivered / most) * 38}
              height={(hour.delivered / most) * 38}
            />
            <rect class="no" x={i * 10 + 1} width={8} y={40} height={(hour.failed / most) * 19} />
          </>
        ))}
        <line class="axis" x1={0} x2={240} y1={40} y2={40} />
      </svg>
      <figcaption>{says}</figcaption>
    </figure>
  );
};

async function confirmDelete(c: Context) {
  const webhook = await requireWebhook(c);
  return page(
    c,
    'Delete this webhook?',
    <Confirm to={c.req.path} does="Delete" back={`/portal/webhooks/${webhook.id}`} keeps="Keep it">
      <code>{webhook.url}</code> hears nothing more of {typesOf(webhook)}, from this moment on. What still
      waits for it is cancelled.
    </Confirm>,
  );
}

async function remove(c: Context) {
  const { id } = await requireWebhook(c);
  await deleteWebhook(c.env, c.get('caller'), id);
  return c.redirect('/portal/webhooks', 303);
}

async function replayAll(c: Context) {
  const { id } = await requireWebhook(c);
  await replay(c.env, c.get('caller'), id, {});
  return c.redirect(`/portal/webhooks/${id}`, 303);
}

async function tryIt(c: Context, send: typeof sendTestEvent) {
  const webhook = await requireWebhook(c);
  await send(c.env, c.get('caller'), c.get('requestId'), webhook);
  return c.redirect(`/portal/webhooks/${webhook.id}`, 303);
}
