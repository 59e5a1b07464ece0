import type { Child } from 'hono/jsx';
import { dayMs } from '../../platform/durations.ts';
import { counted, failureDescription } from '../../webhooks/alerts/words.ts';
import type { Tally } from '../../webhooks/deliveries/counts.ts';
import { circuitAfter, giveUpAfterMs, widestWindow } from '../../webhooks/deliveries/policy.ts';
import type { Receiver } from '../../webhooks/deliveries/receivers.ts';
import type { IconName } from '../ui/icon-names.ts';
import { Note } from '../ui/parts.tsx';
import { type Mood, State } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

type Condition = { rank: number; mood: Mood; icon?: IconName; words: Child };

/** The health of a webhook's receiver, now and in the last 24 hours; rank 0 is worst. */
export function healthOf(receiver: Receiver, day: Tally, connections: number): Condition {
  const { pausedAt, openUntil, failures } = receiver;
  const failed = day.failed + day.retried;
  if (pausedAt !== null) return { rank: 0, mood: 'warn', icon: 'pause', words: 'Paused by your account' };
  if (openUntil !== null)
    return { rank: 0, mood: 'bad', icon: 'pause', words: ['Paused until ', <Time at={openUntil} />] };
  if (failures > 0) {
    const words = failures === 1 ? 'Last attempt failed' : `${failures} failures in a row`;
    return failures < circuitAfter ? { rank: 1, mood: 'warn', words } : { rank: 0, mood: 'bad', words };
  }
  if (failed > 0)
    return {
      rank: 2,
      mood: 'warn',
      words: `${counted(failed, 'failed attempt', 'failed attempts')} in 24 h`,
    };
  return connections === 0
    ? { rank: 3, mood: 'quiet', words: 'No connections' }
    : { rank: 3, mood: 'ok', words: 'Healthy' };
}

export const Health = ({ mood, icon, words }: Condition) => (
  <State mood={mood} {...(icon && { icon })}>
    {words}
  </State>
);

/** Why deliveries are held back, what the receiver does, and when it is called next. */
export const Trouble = ({ receiver, waiting }: { receiver: Receiver; waiting: string }) => {
  const { failures, openUntil, lastFailure, pausedAt } = receiver;
  const waits = `${waiting} ${waiting.startsWith('1 ') ? 'is' : 'are'} waiting`;
  if (pausedAt !== null)
    return (
      <Note mood="warn">
        <p>
          <strong>
            Paused since <Time at={pausedAt} />.
          </strong>{' '}
          Nothing is sent. {waits}. Deliveries that have waited for {giveUpAfterMs / dayMs} days fail, and can
          then be replayed.
        </p>
      </Note>
    );
  if (failures < circuitAfter && openUntil === null) return null;
  return (
    <Note mood="bad">
      <p>
        <strong>Paused after {failures} failures in a row.</strong>{' '}
        {lastFailure && `Its receiver ${failureDescription(lastFailure)}. `}
        {waits}, and no attempt is spent on them.{' '}
        {openUntil === null ? (
          'The next attempt is due now.'
        ) : (
          <>
            Next attempt at <Time at={openUntil} />.
          </>
        )}{' '}
        One success resumes deliveries.
      </p>
    </Note>
  );
};

/** The limits of a receiver in words, and its current number of calls. */
export function callLimits({ maxInFlight, maxPerSecond, window }: Receiver): string {
  const most = maxInFlight ?? widestWindow;
  const now = window > 0 && window < most ? `, ${window} for now` : '';
  if (maxInFlight === null && maxPerSecond === null) return `Up to ${most} at a time${now}`;
  const perSecond = maxPerSecond === null ? '' : `, ${maxPerSecond} a second`;
  return `Up to ${most} at a time${perSecond}${now}. Set by the operator.`;
}
