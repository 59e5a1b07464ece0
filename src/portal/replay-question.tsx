import { maxReplayedPerCall } from '../deliveries/replay.ts';
import { maxReplayCounted, type ReplayCount } from '../deliveries/replay-count.ts';
import type { ReplayFields } from './replay-form.ts';

/** Says how many have been replayed so far. */
export const Sent = ({ sent }: { sent: number }) => (
  <p class="notice" role="status">
    {sent === 0
      ? 'No delivery has been replayed.'
      : `${counted(sent)} ${sent === 1 ? 'is' : 'are'} on the way again.`}
  </p>
);

/** What would be replayed, and the button that does it. */
export const Question = (props: {
  to: string;
  back: string;
  fields: ReplayFields;
  count: ReplayCount;
  days: number;
}) => {
  const { to, back, fields, count, days } = props;
  const isOneCall = !count.more && count.count <= maxReplayedPerCall;
  const part = `${fields.sent === '' ? 'first' : 'next'} ${maxReplayedPerCall.toLocaleString('en')}`;
  return (
    <>
      <p>
        <strong>{found(count, fields)}</strong>{' '}
        {count.tooOld > 0 &&
          `${orMore(count.tooOld)} cannot be replayed any more: that is possible for ${days} days.`}
      </p>
      {(count.count > 0 || count.more) && (
        <>
          <p>
            Each keeps its Delivery-Id.{' '}
            {fields.which === 'all'
              ? 'Your receiver will see a repeat of each that it has already received.'
              : 'Your receiver should drop any that it has already received.'}
          </p>
          <form method="post" action={to}>
            {Object.entries(fields).map(([name, value]) => (
              <input type="hidden" name={name} value={value} />
            ))}
            <div class="actions">
              <button type="submit">
                {isOneCall ? `Replay ${counted(count.count)}` : `Replay the ${part}`}
              </button>
              <a href={back}>{fields.sent === '' ? 'Cancel' : 'Stop here'}</a>
            </div>
          </form>
        </>
      )}
    </>
  );
};

function found({ count, more }: ReplayCount, { which, sent }: ReplayFields): string {
  const left = sent === '' ? '' : ' more';
  if (more && count < maxReplayCounted)
    return `Of the first ${maxReplayCounted.toLocaleString('en')}${left} deliveries ${count} can be replayed, and there are others after them.`;
  if (count > 0)
    return `${more ? `${orMore(count)}${left} deliveries` : counted(count, left)} can be replayed.`;
  return which === 'all' ? 'There is nothing to replay.' : 'Nothing was missed.';
}

const counted = (count: number, left = ''): string =>
  `${count.toLocaleString('en')}${left} ${count === 1 ? 'delivery' : 'deliveries'}`;

const orMore = (count: number): string =>
  count < maxReplayCounted ? count.toLocaleString('en') : `${count.toLocaleString('en')} or more`;
