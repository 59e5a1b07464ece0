import { Hono } from 'hono';
import { type Delivery, findDelivery } from '../deliveries/queries.ts';
import { replayOne } from '../deliveries/replay.ts';
import { Refusal } from '../errors.ts';
import type { App, Context } from '../http/context.ts';
import { seeOther } from '../http/redirect.ts';
import { ACCIDENT } from '../notifications/types.ts';
import { limitActions } from './action-limit.ts';
import { PostButton, Status, Time } from './components.tsx';
import { page } from './layout.tsx';

/** One delivery, with its payload and each of its attempts. */
export const deliveryPages = new Hono<App>()
  .get('/webhooks/:id/deliveries/:deliveryId', detail)
  .post('/webhooks/:id/deliveries/:deliveryId/replay', limitActions, replayDelivery);

async function detail(c: Context) {
  const { payload, ...delivery } = await requireDelivery(c);
  return page(
    c,
    delivery.type === ACCIDENT ? `Accident, level ${delivery.level}` : 'Event',
    <>
      <p>
        <a href={`/portal/webhooks/${delivery.webhookId}`}>Back to the webhook</a>
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
        {delivery.status !== 'pending' && (
          <div class="actions">
            <PostButton to={`${pathOf(delivery)}/replay`} name="Replay" />
            {delivery.status === 'delivered' && (
              <small>It was delivered: your receiver will see a repeat, with the same Delivery-Id.</small>
            )}
          </div>
        )}
        <h2>Attempts</h2>
        {delivery.log.length === 0 && <p>None yet.</p>}
        {delivery.attemptsOmitted > 0 && (
          <p>
            The first attempt and the latest 20. {delivery.attemptsOmitted} attempts between them are not
            kept.
          </p>
        )}
        <ol class="timeline">
          {delivery.log.map((attempt) => (
            <Attempt attempt={attempt} />
          ))}
        </ol>
      </div>
      <h2>Payload</h2>
      {payload === null ? (
        <p>No longer available.</p>
      ) : (
        <pre>
          <code>{JSON.stringify(payload, null, 2)}</code>
        </pre>
      )}
    </>,
  );
}

async function replayDelivery(c: Context) {
  const delivery = await requireDelivery(c);
  await replayOne(c.env, c.get('caller'), delivery);
  return seeOther(c, pathOf(delivery));
}

/** The delivery that the path names. @throws Refusal: not found, also for another account's */
async function requireDelivery(c: Context) {
  const key = { webhookId: c.req.param('id') ?? '', id: c.req.param('deliveryId') ?? '' };
  const delivery = await findDelivery(c.env, c.get('caller'), key);
  if (!delivery) throw new Refusal({ kind: 'not found' });
  return delivery;
}

const pathOf = ({ webhookId, id }: Delivery): string => `/portal/webhooks/${webhookId}/deliveries/${id}`;

const Attempt = ({ attempt }: { attempt: Delivery['log'][number] }) => (
  <li>
    <Time at={attempt.at} />:{' '}
    <strong class={attempt.result === 'success' ? 'good' : 'bad'}>{attempt.result}</strong>
    {'status' in attempt && attempt.status !== undefined && ` ${attempt.status}`} in {attempt.durationMs} ms
    {'answer' in attempt && attempt.answer !== '' && (
      <pre>
        <code>{attempt.answer}</code>
      </pre>
    )}
  </li>
);
