import { dayMs } from '../../platform/durations.ts';
import { counted, failureDescription } from '../../webhooks/alerts/words.ts';
import type { Tally } from '../../webhooks/deliveries/counts.ts';
import { circuitAfter, giveUpAfterMs, widestWindow } from '../../webhooks/deliveries/policy.ts';
import type { AilingReceiver, Receiver } from '../../webhooks/deliveries/receivers.ts';
import { Note } from '../ui/parts.tsx';
import { State } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

/** A webhook's rank by health: 0 is worst, 3 is well. */
export function rankOf(receiver: Receiver, day: Tally): 0 | 1 | 2 | 3 {
  if (receiver.pausedAt !== null || receiver.openUntil !== null || receiver.failures >= circuitAfter)
    return 0;
  if (receiver.failures > 0) return 1;
  return day.failed + day.retried > 0 ? 2 : 3;
}

/** The health of a webhook's receiver, now and in the last 24 hours. */
export const Health = (props: { receiver: Receiver; day: Tally; connections: number }) => {
  const { receiver, day, connections } = props;
  if (receiver.pausedAt !== null)
    return (
      <State mood="warn" icon="pause">
        Paused by your account
      </State>
    );
  if (receiver.openUntil !== null)
    return (
      <State mood="bad" icon="pause">
        Paused until <Time at={receiver.openUntil} />
      </State>
    );
  if (receiver.failures > 0)
    return (
      <State mood={receiver.failures >= circuitAfter ? 'bad' : 'warn'}>
        {receiver.failures === 1 ? 'Last attempt failed' : `${receiver.failures} failures in a row`}
      </State>
    );
  if (day.failed + day.retried > 0)
    return (
      <State mood="warn">
        {counted(day.failed + day.retried, 'failed attempt', 'failed attempts')} in 24 h
      </State>
    );
  if (connections === 0) return <State mood="quiet">No connections</State>;
  return <State mood="ok">Healthy</State>;
};

/** Why deliveries are held back, what the receiver does, and when it is called next. */
export const Trouble = ({ receiver, waiting }: { receiver: AilingReceiver; waiting: string }) => {
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
