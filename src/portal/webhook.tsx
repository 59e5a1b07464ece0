import { Hono } from 'hono';
import { webhookActivity } from '../deliveries/activity.ts';
import { type Delivery, statuses } from '../deliveries/queries.ts';
import { Refusal } from '../errors.ts';
import type { App, Context } from '../http/context.ts';
import { ACCIDENT, notificationTypes } from '../notifications/types.ts';
import { findWebhook, type StoredWebhook } from '../webhooks/service.ts';
import { Chart } from './chart.tsx';
import { PostButton, Status, Table, Time } from './components.tsx';
import { page } from './layout.tsx';
import { CallLimits, Health } from './receiver.tsx';
import { typeNames, typesOf } from './webhooks.tsx';

/** One webhook with its deliveries. */
export const webhookPages = new Hono<App>().get('/webhooks/:id', detail);

const pageSize = 20;

async function detail(c: Context) {
  const webhookId = c.req.param('id') ?? '';
  const query = c.req.query();
  const status = statuses.find((known) => known === query.status);
  const type = notificationTypes.find((known) => String(known) === query.type);
  const filter = { webhookId, status, type, before: query.before, limit: pageSize + 1 };
  const [webhook, { hours, receivers, deliveries }] = await Promise.all([
    requireWebhook(c),
    webhookActivity(c.env, c.get('caller'), filter),
  ]);
  const path = pathOf(webhook);
  const receiver = receivers.get(webhook.id);
  const shown = deliveries.slice(0, pageSize);
  const connections = webhook.connectionIds.length;
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
        Subscribes to {typesOf(webhook)} of {connections} {connections === 1 ? 'connection' : 'connections'}.
        {Object.keys(webhook.headers).length > 0 &&
          ` Custom headers: ${Object.keys(webhook.headers).join(', ')}.`}
      </p>
      <div class="actions">
        <a href={`${path}/edit`}>Edit</a>
        <PostButton to={`${path}/test-event`} name="Send a test event" quiet />
        <PostButton to={`${path}/test-accident`} name="Simulate an accident" quiet />
        <a href={`${path}/replay`}>Send what I missed</a>
        <a href={`${path}/delete`}>Delete</a>
      </div>
      <div data-live>
        <p>
          <Health receiver={receiver} /> <CallLimits receiver={receiver} />
        </p>
        <Chart hours={hours} />
        <h2>Deliveries</h2>
        <Filters path={path} status={status} type={type} />
        {shown.length === 0 ? <p>No deliveries.</p> : <Deliveries path={path} deliveries={shown} />}
        {deliveries.length > pageSize && (
          <a href={filtered(path, { status, type, before: shown.at(-1)?.id })}>Older deliveries</a>
        )}
      </div>
    </>,
  );
}

/** The webhook that the path names. @throws Refusal: not found, also for another account's */
export async function requireWebhook(c: Context): Promise<StoredWebhook> {
  const webhook = await findWebhook(c.env, c.get('caller'), c.req.param('id') ?? '');
  if (!webhook) throw new Refusal({ kind: 'not found' });
  return webhook;
}

/** The path of a webhook's page. */
export const pathOf = ({ id }: { id: string }): string => `/portal/webhooks/${id}`;

type Filter = { status?: Delivery['status'] | undefined; type?: Delivery['type'] | undefined };

const Filters = ({ path, status, type }: Filter & { path: string }) => (
  <nav aria-label="Filter by status and type">
    <ul>
      {[undefined, ...statuses].map((choice) => (
        <Choice to={filtered(path, { status: choice, type })} chosen={choice === status}>
          {choice ?? 'any status'}
        </Choice>
      ))}
    </ul>
    <ul>
      {[undefined, ...notificationTypes].map((choice) => (
        <Choice to={filtered(path, { status, type: choice })} chosen={choice === type}>
          {choice ? typeNames[choice] : 'any type'}
        </Choice>
      ))}
    </ul>
  </nav>
);

const Choice = ({ to, chosen, children }: { to: string; chosen: boolean; children: string }) => (
  <li>
    <a href={to} aria-current={chosen ? 'true' : undefined}>
      {children}
    </a>
  </li>
);

function filtered(path: string, filter: Filter & { before?: string | undefined }): string {
  const query = Object.entries(filter).flatMap(([name, value]) => (value ? [[name, String(value)]] : []));
  return query.length > 0 ? `${path}?${new URLSearchParams(query)}` : path;
}

const Deliveries = ({ path, deliveries }: { path: string; deliveries: Delivery[] }) => (
  <Table caption="Deliveries" head={['Notification', 'Status', 'Attempts', 'Last attempt']}>
    {deliveries.map((delivery) => (
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
);
