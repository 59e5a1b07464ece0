import type { Delivery } from '../../webhooks/deliveries/queries.ts';
import { State } from './states.tsx';
import { Time } from './time.tsx';

type Shown = Pick<Delivery, 'status' | 'attempts' | 'nextAttemptAt'>;

/** The state of a delivery in words. While its webhook is `pausedUntil` a time, no attempt is made before. */
export const Status = ({ delivery, pausedUntil }: { delivery: Shown; pausedUntil: number | null }) => {
  switch (delivery.status) {
    case 'delivered':
      return <State mood="ok">Delivered</State>;
    case 'failed':
      return <State mood="bad">Failed</State>;
    case 'cancelled':
      return <State mood="quiet">Cancelled</State>;
    case 'pending':
      return <Pending delivery={delivery} pausedUntil={pausedUntil} />;
  }
};

const Pending = ({ delivery, pausedUntil }: { delivery: Shown; pausedUntil: number | null }) => {
  const at = Math.max(delivery.nextAttemptAt, pausedUntil ?? 0);
  const isRetry = delivery.attempts > 0;
  return (
    <State mood={isRetry ? 'warn' : 'quiet'} icon="clock">
      {at <= Date.now() ? (
        isRetry ? (
          'Retrying now'
        ) : (
          'Sending'
        )
      ) : (
        <>
          {isRetry ? 'Retry' : 'Waiting'} {isRetry ? 'at' : 'until'} <Time at={at} />
        </>
      )}
    </State>
  );
};
