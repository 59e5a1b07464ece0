import { Hono } from 'hono';
import { accountActivity } from '../deliveries/activity.ts';
import type { App, Context } from '../http/context.ts';
import { ACCIDENT, EVENT } from '../notifications/types.ts';
import { listWebhooks, type Webhook } from '../webhooks/service.ts';
import { Chart } from './chart.tsx';
import { Table, Time } from './components.tsx';
import { page } from './layout.tsx';
import { Health } from './receiver.tsx';

/** The account's webhooks, and how their deliveries went. */
export const webhookListPages = new Hono<App>().get('/webhooks', list);

async function list(c: Context) {
  const caller = c.get('caller');
  const [webhooks, { hours, receivers }] = await Promise.all([
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
                <Health receiver={receivers.get(webhook.id)} />
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
