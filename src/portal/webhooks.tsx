import { Hono } from 'hono';
import { config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { deliveriesByHour, type Hour, healthOf, listDeliveries, statuses } from '../deliveries/log.ts';
import { replay } from '../deliveries/replay.ts';
import { type FieldError, Refusal } from '../errors.ts';
import { connectionList } from '../fleet/lists.ts';
import { readList } from '../fleet/service.ts';
import type { App, Context } from '../http/context.ts';
import { parseWebhook } from '../webhooks/schema.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  updateWebhook,
  type Webhook,
} from '../webhooks/service.ts';
import { formOf } from './context.ts';
import { Field, Post, Problem, page, Status, Table, Time } from './layout.tsx';
import { refusedAs } from './settings.tsx';
import { sendTestAccident, sendTestEvent } from './try.ts';

/** Webhooks, and what became of their deliveries. */
export const webhookPages = new Hono<App>()
  .get('/webhooks', list)
  .get('/webhooks/new', (c) => form(c, undefined))
  .post('/webhooks/new', save)
  .get('/webhooks/:id', detail)
  .get('/webhooks/:id/edit', async (c) => form(c, await own(c)))
  .post('/webhooks/:id/edit', save)
  .get('/webhooks/:id/delete', confirmDelete)
  .post('/webhooks/:id/delete', remove)
  .post('/webhooks/:id/replay', replayAll)
  .post('/webhooks/:id/test-event', async (c) => tryIt(c, sendTestEvent))
  .post('/webhooks/:id/test-accident', async (c) => tryIt(c, sendTestAccident));

const db = (c: Context) => openDatabase(c.env.DB);
const all = (c: Context) => listWebhooks(db(c), config(c.env).headerKeys, c.get('caller'));

/** The webhook that the path names. @throws Refusal: not found, also for another account's */
export async function own(c: Context): Promise<Webhook> {
  const webhook = (await all(c)).find(({ id }) => id === c.req.param('id'));
  if (!webhook) throw new Refusal({ kind: 'not found' });
  return webhook;
}

const typeNames = { 1: 'accidents', 2: 'events' };
const typesOf = ({ notificationTypes }: Webhook) =>
  notificationTypes.map((type) => typeNames[type]).join(' and ');

async function list(c: Context) {
  const webhooks = await all(c);
  const ids = webhooks.map(({ id }) => id);
  const [health, hours] = await Promise.all([healthOf(db(c), ids), deliveriesByHour(db(c), ids, Date.now())]);
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
                <Health of={health.get(webhook.id)} />
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

const Health = ({ of }: { of: { failures: number; openUntil: number } | undefined }) =>
  !of?.failures ? (
    <span class="tag good">healthy</span>
  ) : of.openUntil > Date.now() ? (
    <span class="tag bad">paused after {of.failures} failures</span>
  ) : (
    <span class="tag wait">{of.failures} failed in a row</span>
  );

async function detail(c: Context) {
  const webhook = await own(c);
  const { status, type, before } = c.req.query();
  const chosen = statuses.find((one) => one === status);
  const kind = ([1, 2] as const).find((one) => String(one) === type);
  const [hours, health, deliveries] = await Promise.all([
    deliveriesByHour(db(c), [webhook.id], Date.now()),
    healthOf(db(c), [webhook.id]),
    listDeliveries(db(c), { webhookId: webhook.id, status: chosen, type: kind, before, limit: 21 }),
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
          <Health of={health.get(webhook.id)} />
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
            {([undefined, 1, 2] as const).map((one) => (
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
                    {delivery.type === 1 ? `accident, level ${delivery.level}` : 'event'}
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
const Chart = ({ hours }: { hours: Hour[] }) => {
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

type Draft = {
  url: string;
  httpVerb: string;
  connectionIds: string[];
  notificationTypes: number[];
  headers: [name: string, value: string][];
};

async function form(
  c: Context,
  webhook: Webhook | undefined,
  wrong?: { message: string; errors?: FieldError[] | undefined; draft: Draft },
) {
  const connections = await readList(db(c), c.get('caller'), connectionList, {
    connectionId: undefined,
    query: { limit: ['500'] },
  });
  const names = connections.items as { id: string; name: string | null; provider: string }[]; // as that list presents them
  const draft: Draft = wrong?.draft ?? {
    url: webhook?.url ?? '',
    httpVerb: webhook?.httpVerb ?? 'POST',
    connectionIds: webhook?.connectionIds ?? names.map(({ id }) => id),
    notificationTypes: webhook?.notificationTypes ?? [1, 2],
    headers: Object.entries(webhook?.headers ?? {}),
  };
  const revealed = c.req.query('reveal') === 'yes';
  const headerRows = [...draft.headers, ...Array(3).fill(['', ''])] as Draft['headers'];
  const headerProblem = wrong?.errors?.find(({ field }) => field === 'headers');
  return page(
    c,
    webhook ? 'Edit webhook' : 'Add a webhook',
    <>
      <Problem message={wrong?.message} />
      <form method="post" action={c.req.path}>
        <Field
          name="url"
          label="Address"
          required
          value={draft.url}
          hint="An https URL that answers with 2xx within 10 seconds"
          errors={wrong?.errors ?? []}
        />
        <label>
          Verb
          <select name="httpVerb">
            {['POST', 'PUT'].map((verb) => (
              <option selected={verb === draft.httpVerb}>{verb}</option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>Tell of</legend>
          {([1, 2] as const).map((type) => (
            <label>
              <input
                type="checkbox"
                name="notificationTypes"
                value={String(type)}
                checked={draft.notificationTypes.includes(type)}
              />
              {typeNames[type]}
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>Connections</legend>
          {names.length === 0 && <p>This account has none yet.</p>}
          {names.map(({ id, name, provider }) => (
            <label>
              <input
                type="checkbox"
                name="connectionIds"
                value={id}
                checked={draft.connectionIds.includes(id)}
              />
              {name ?? provider} ({provider})
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>Headers to send along</legend>
          {headerProblem && <small role="alert">{headerProblem.message}</small>}
          {headerRows.map(([name, value], i) => (
            <div class="pair">
              <input name="headerName" value={name} aria-label={`Header ${i + 1}: name`} autocomplete="off" />
              <input
                name="headerValue"
                value={value}
                type={revealed ? 'text' : 'password'}
                aria-label={`Header ${i + 1}: value`}
                autocomplete="off"
              />
            </div>
          ))}
          {webhook && !revealed && <a href={`${c.req.path}?reveal=yes`}>Reveal the values</a>}
        </fieldset>
        <div class="actions">
          <button type="submit">Save</button>
          <a href={webhook ? `/portal/webhooks/${webhook.id}` : '/portal/webhooks'}>Cancel</a>
        </div>
      </form>
    </>,
    wrong ? 400 : 200,
  );
}

async function save(c: Context) {
  const webhook = c.req.param('id') ? await own(c) : undefined;
  const fields = await formOf(c);
  const values = fields.all('headerValue');
  const draft: Draft = {
    url: fields.one('url').trim(),
    httpVerb: fields.one('httpVerb'),
    connectionIds: fields.all('connectionIds'),
    notificationTypes: fields.all('notificationTypes').map(Number),
    headers: fields
      .all('headerName')
      .map((name, i): [string, string] => [name.trim(), values[i] ?? ''])
      .filter(([name]) => name !== ''),
  };
  return refusedAs(
    (wrong) => form(c, webhook, { ...wrong, draft }),
    async () => {
      const policy = {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      };
      const input = parseWebhook({ ...draft, headers: Object.fromEntries(draft.headers) }, policy);
      const keys = config(c.env).headerKeys;
      const saved = webhook
        ? await updateWebhook(db(c), keys, c.get('caller'), webhook.id, input)
        : await createWebhook(db(c), keys, c.get('caller'), input);
      return c.redirect(`/portal/webhooks/${saved.id}`, 303);
    },
  );
}

async function confirmDelete(c: Context) {
  const webhook = await own(c);
  return page(
    c,
    'Delete this webhook?',
    <>
      <p>
        <code>{webhook.url}</code> hears nothing more of {typesOf(webhook)}, from this moment on. What still
        waits for it is cancelled.
      </p>
      <div class="actions">
        <Post to={c.req.path} name="Delete" />
        <a href={`/portal/webhooks/${webhook.id}`}>Keep it</a>
      </div>
    </>,
  );
}

async function remove(c: Context) {
  const { id } = await own(c);
  await deleteWebhook(db(c), c.get('caller'), id);
  return c.redirect('/portal/webhooks', 303);
}

async function replayAll(c: Context) {
  const { id } = await own(c);
  await replay(c.env, id, {});
  return c.redirect(`/portal/webhooks/${id}`, 303);
}

async function tryIt(c: Context, send: (env: Env, accountId: string, webhook: Webhook) => Promise<void>) {
  const webhook = await own(c);
  await send(c.env, c.get('caller').accountId, webhook);
  return c.redirect(`/portal/webhooks/${webhook.id}`, 303);
}
