import { widestWindow } from '../deliveries/policy.ts';
import type { Receiver } from '../deliveries/receivers.ts';
import { Time } from './components.tsx';

/** How a webhook's receiver has been doing. */
export const Health = ({ receiver }: { receiver: Receiver | undefined }) =>
  !receiver?.failures ? (
    <span class="tag good">healthy</span>
  ) : receiver.openUntil !== null ? (
    <span class="tag bad">
      paused until <Time at={receiver.openUntil} />
    </span>
  ) : (
    <span class="tag wait">failures in a row: {receiver.failures}</span>
  );

/** How many calls a receiver gets, at most and now. */
export const CallLimits = ({ receiver }: { receiver: Receiver | undefined }) =>
  receiver && (
    <>
      {limitsOf(receiver)} {receiver.window > 0 && `Now: up to ${receiver.window}.`}
    </>
  );

/** The limits of a receiver in words. */
function limitsOf({ maxInFlight, maxPerSecond }: Receiver): string {
  if (maxInFlight === null && maxPerSecond === null) return `Up to ${widestWindow} calls at a time.`;
  const perSecond = maxPerSecond === null ? '' : `, ${maxPerSecond} a second`;
  return `At most ${maxInFlight ?? widestWindow} calls at a time${perSecond}. Set by the operator.`;
}
