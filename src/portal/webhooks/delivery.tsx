import type { Caller } from '../../platform/db/guard.ts';
import type { Context } from '../../platform/http/context.ts';
import { briefly, counted, duration, outcomeOf } from '../../webhooks/alerts/words.ts';
import { maxAttemptsOf } from '../../webhooks/deliveries/policy.ts';
import {
  type Delivery,
  type DeliveryDetail,
  findDelivery,
  nextAttempt,
} from '../../webhooks/deliveries/queries.ts';
import type { DeliveryKey } from '../../webhooks/deliveries/queue.ts';
import { replayOne, sendNow } from '../../webhooks/deliveries/replay.ts';
import { ACCIDENT } from '../../webhooks/notifications/types.ts';
import { madeUpVin } from '../../webhooks/simulate.ts';
import { PostButton } from '../ui/buttons.tsx';
import { done, submit } from '../ui/form.ts';
import { page } from '../ui/layout.tsx';
import { Empty, Facts, Note, Panel } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { Level, Risk, State, Status } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { nameOf } from './deliveries.tsx';
import { aboveOf } from './words.ts';

export async function detail(c: Context) {
  const delivery = await requireDelivery(c);
  const { webhook, status } = delivery;
  const ended = status !== 'pending';
  return page(
    c,
    {
      title: nameOf(delivery),
      above: aboveOf(webhook && { ...webhook, id: delivery.webhookId }),
      state: <Status delivery={delivery} webhook={webhook} />,
      lead: [delivery.about?.vehicle, delivery.about?.vin].filter(Boolean).join(', '),
      actions:
        webhook &&
        (ended ? (
          <PostButton to={`${pathOf(delivery)}/replay`} name="Replay" icon="rotate-ccw" />
        ) : (
          <PostButton to={`${pathOf(delivery)}/send`} name="Send now" icon="send" />
        )),
    },
    <div class="stack" data-live>
      {status === 'delivered' && (
        <p class="sub">
          It was delivered: if you replay it, your receiver will see a repeat, with the same Delivery-Id.
        </p>
      )}
      {status === 'pending' && <Next delivery={delivery} />}
      <div class="cols cols-3-2">
        <div class="stack">
          <Attempts delivery={delivery} />
          <Payload payload={delivery.payload} />
        </div>
        <About delivery={delivery} />
      </div>
    </div>,
  );
}

export const replayDelivery = (c: Context) =>
  act(c, replayOne, (delivery) => {
    const subject = [nameOf(delivery), delivery.about?.vehicle || delivery.about?.vin];
    return `Replayed: ${subject.filter(Boolean).join(', ')}. `;
  });

export const sendDelivery = (c: Context) => act(c, sendNow, () => '');

/** Acts on a delivery, and reports the receiver's response, or why it was refused. */
async function act(
  c: Context,
  does: (env: Env, caller: Caller, key: DeliveryKey) => Promise<unknown>,
  said: (delivery: DeliveryDetail) => string,
) {
  const delivery = await requireDelivery(c);
  const since = Date.now();
  return submit(
    c,
    async () => {
      await does(c.env, c.get('caller'), delivery);
      const { text, mood } = await firstOutcome(c, delivery, since);
      return done(c, pathOf(delivery), said(delivery) + text, mood);
    },
    ({ message }) => done(c, pathOf(delivery), `${message}.`, 'quiet'),
  );
}

/** Waits a moment for the receiver's response to a delivery. */
export async function firstOutcome(
  c: Context,
  key: DeliveryKey,
  since: number,
): Promise<{ text: string; mood: 'ok' | 'warn' }> {
  const attempt = await nextAttempt(c.env, c.get('caller'), key, since);
  if (attempt) return { text: outcomeOf(attempt), mood: attempt.result === 'success' ? 'ok' : 'warn' };
  const { webhook } = (await findDelivery(c.env, c.get('caller'), key)) ?? {};
  return webhook?.pausedAt || webhook?.openUntil
    ? { text: 'It is waiting, because the webhook is paused.', mood: 'warn' }
    : { text: 'It is on its way.', mood: 'ok' };
}

/** The delivery in the path. @throws Refusal: not found, also for another account's */
async function requireDelivery(c: Context) {
  const key = { webhookId: c.req.param('id') ?? '', id: c.req.param('deliveryId') ?? '' };
  return found(await findDelivery(c.env, c.get('caller'), key));
}

const pathOf = ({ webhookId, id }: Delivery): string => `/portal/webhooks/${webhookId}/deliveries/${id}`;

/** Why it is not delivered yet, and when the next attempt is. */
const Next = ({ delivery }: { delivery: DeliveryDetail }) => {
  const { type, attempts, log, nextAttemptAt, webhook } = delivery;
  const last = log.at(-1);
  const at = Math.max(nextAttemptAt ?? 0, webhook?.openUntil ?? 0);
  if (attempts === 0 || !last) return null;
  return (
    <Note mood="warn">
      <p>
        <strong>{counted(attempts, 'attempt has failed', 'attempts have failed')}.</strong> {outcomeOf(last)}{' '}
        Attempt {attempts + 1} of {maxAttemptsOf(type)} is due{' '}
        {webhook?.pausedAt
          ? 'once the webhook is resumed'
          : at <= Date.now()
            ? 'now'
            : ['at ', <Time at={at} seconds />]}
        .
      </p>
    </Note>
  );
};

const Attempts = ({ delivery: { log, attemptsOmitted } }: { delivery: Delivery }) => (
  <Panel
    id="attempts"
    title="Attempts"
    side={
      attemptsOmitted > 0 && <p>The first and the latest 20. {attemptsOmitted} between them are not kept.</p>
    }
  >
    {log.length === 0 ? (
      <Empty icon="clock" title="None yet">
        An attempt appears here as soon as your receiver responds.
      </Empty>
    ) : (
      <ol class="rows attempts">
        {log.map((attempt) => (
          <li class="row-stacked">
            <State mood={attempt.result === 'success' ? 'ok' : 'bad'}>{briefly(attempt)}</State>
            <div>
              in {duration(attempt.durationMs)}
              {'answer' in attempt && attempt.answer !== '' && (
                <pre>
                  <code>{attempt.answer}</code>
                </pre>
              )}
            </div>
            <span class="when">
              <Time at={attempt.at} seconds />
            </span>
          </li>
        ))}
      </ol>
    )}
  </Panel>
);

const Payload = ({ payload }: { payload: unknown }) => (
  <Panel id="payload" title="Payload" side={<p>The data that is sent</p>}>
    {payload === null ? (
      <p class="panel-body">No longer available.</p>
    ) : (
      <pre class="payload" tabindex={0}>
        <code>{JSON.stringify(payload, null, 2)}</code>
      </pre>
    )}
  </Panel>
);

const About = ({ delivery }: { delivery: DeliveryDetail }) => {
  const { id, eventId, type, level, about, requestId, finishedAt, attemptsOmitted, log } = delivery;
  const isMadeUp = about?.vin === madeUpVin;
  return (
    <Panel
      id="about"
      title="Delivery"
      side={
        about &&
        !isMadeUp && (
          <a href={type === ACCIDENT ? `/portal/accidents/${eventId}` : `/portal/events/${eventId}`}>
            {type === ACCIDENT ? 'See the accident' : 'See the event'}
          </a>
        )
      }
      body
    >
      <Facts
        facts={[
          ['Risk', about?.risk && <Risk risk={about.risk} named />],
          ['Level', type === ACCIDENT ? <Level level={level} /> : null],
          ['Vehicle', about?.vehicle],
          ['VIN', about?.vin && <code>{about.vin}</code>],
          ['Made up', isMadeUp ? 'Yes, as a test' : null],
          ['Attempts', log.length + attemptsOmitted],
          ['Ended', finishedAt && <Time at={finishedAt} seconds />],
          ['Delivery-Id', <code class="text-xs">{id}</code>],
          ['Event ID', <code class="text-xs">{eventId}</code>],
          ['Request ID', requestId && <code class="text-xs">{requestId}</code>],
        ]}
      />
    </Panel>
  );
};
