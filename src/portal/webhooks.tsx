import { Hono } from 'hono';
import { accountActivity, type Circuit } from '../deliveries/activity.ts';
import type { App, Context } from '../http/context.ts';
import { ACCIDENT, EVENT } from '../notifications/types.ts';
import { listWebhooks, type Webhook } from '../webhooks/service.ts';
import { Chart } from './chart.tsx';
import { Table, Time } from './components.tsx';
import { page } from './layout.tsx';

/** The account's webhooks, and how their deliveries went. */
export const webhookListPages = new Hono<App>().get('/webhooks', list);

async function list(c: Context) {
  const caller = c.get('caller');
  const [webhooks, { hours, circuits }] = await Promise.all([
    listWebhooks(c.env, caller),
    accountActivity(c.env, caller),
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
        <p>There are no webhooks yet. A webhook is a URL of yours that we call when something happens.</p>
      ) : (
        <Table caption="Webhooks" head={['URL', 'Subscribes to', 'Connections', 'Health', 'Created']}>
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

/** Notification types in words. */
export const typeNames = { [ACCIDENT]: 'accidents', [EVENT]: 'events' };

/** What a webhook subscribes to, in words. */
export const typesOf = ({ notificationTypes }: Webhook): string =>
  notificationTypes.map((type) => typeNames[type]).join(' and ');

/** How a webhook's receiver has been doing. */
export const Health = ({ circuit }: { circuit: Circuit | undefined }) =>
  !circuit?.failures ? (
    <span class="tag good">healthy</span>
  ) : circuit.openUntil > Date.now() ? (
    <span class="tag bad">
      paused until <Time at={circuit.openUntil} />
    </span>
  ) : (
    <span class="tag wait">failures in a row: {circuit.failures}</span>
  );
