import { Hono } from 'hono';
import { findDelivery } from '../deliveries/queries.ts';
import { replay } from '../deliveries/replay.ts';
import { Refusal } from '../errors.ts';
import type { App, Context } from '../http/context.ts';
import { ACCIDENT } from '../notifications/types.ts';
import { Post, page, Status, Time } from './layout.tsx';

/** One delivery, with its payload and each of its attempts. */
export const deliveryPages = new Hono<App>()
  .get('/webhooks/:id/deliveries/:deliveryId', detail)
  .post('/webhooks/:id/deliveries/:deliveryId/replay', again);

async function requireDelivery(c: Context) {
  const key = { webhookId: c.req.param('id') ?? '', id: c.req.param('deliveryId') ?? '' };
  const delivery = await findDelivery(c.env, c.get('caller'), key);
  if (!delivery) throw new Refusal({ kind: 'not found' });
  return delivery;
}

async function detail(c: Context) {
  const { payload, ...delivery } = await requireDelivery(c);
  const path = `/portal/webhooks/${delivery.webhookId}`;
  return page(
    c,
    delivery.type === ACCIDENT ? `Accident, level ${delivery.level}` : 'Event',
    <>
      <p>
        <a href={path}>Back to the webhook</a>
      </p>
      <div data-live>
        <p>
          <Status status={delivery.status} /> Delivery-Id <code>{delivery.id}</code>
        </p>
        {delivery.status === 'pending' && (
          <p>
            Next attempt: <Time at={delivery.nextAttemptAt} />
          </p>
        )}
        {delivery.status === 'failed' && (
          <Post to={`${path}/deliveries/${delivery.id}/replay`} name="Replay" />
        )}
        <h2>Attempts</h2>
        {delivery.log.length === 0 && <p>None yet.</p>}
        <ol class="timeline">
          {delivery.log.map((entry) => (
            <li>
              <Time at={entry.at} />:{' '}
              <strong class={entry.result === 'success' ? 'good' : 'bad'}>{entry.result}</strong>
              {'status' in entry && entry.status !== undefined && ` ${entry.status}`} in {entry.durationMs} ms
              {'answer' in entry && entry.answer !== '' && (
                <pre>
                  <code>{entry.answer}</code>
                </pre>
              )}
            </li>
          ))}
        </ol>
      </div>
      <h2>Payload</h2>
      <pre>
        <code>{JSON.stringify(payload, null, 2)}</code>
      </pre>
    </>,
  );
}

async function again(c: Context) {
  const { webhookId, id } = await requireDelivery(c);
  await replay(c.env, c.get('caller'), webhookId, { id });
  return c.redirect(`/portal/webhooks/${webhookId}/deliveries/${id}`, 303);
}
