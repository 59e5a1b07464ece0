import { maxReplayedPerCall } from '../../webhooks/deliveries/replay.ts';
import { maxReplayCounted, type ReplayCount } from '../../webhooks/deliveries/replayable.ts';
import { LinkButton, Submit } from '../ui/forms.tsx';
import { Note } from '../ui/parts.tsx';
import type { ReplayFields } from './replay-form.ts';
import { deliveries } from './words.ts';

/** Says how many have been replayed so far, when there are more. */
export const Sent = ({ sent }: { sent: number }) => (
  <Note mood="ok" role="status">
    <p>{deliveries(sent)} queued again.</p>
  </Note>
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
    <section class="panel" aria-labelledby="question">
      <div class="panel-body stack">
        <h2 id="question">{found(count, fields)}</h2>
        {count.tooOld > 0 && (
          <p class="sub">
            {`${orMore(count.tooOld)} cannot be replayed any more: that is possible for ${days} days.`}
          </p>
        )}
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
                <Submit name={isOneCall ? `Replay ${deliveries(count.count)}` : `Replay the ${part}`} />
                <LinkButton href={back} name={fields.sent === '' ? 'Cancel' : 'Stop here'} weight="ghost" />
              </div>
            </form>
          </>
        )}
      </div>
    </section>
  );
};

function found({ count, more }: ReplayCount, { which, sent }: ReplayFields): string {
  const left = sent === '' ? '' : ' more';
  if (more && count < maxReplayCounted)
    return `Of the first ${maxReplayCounted.toLocaleString('en')}${left} deliveries ${count} can be replayed, and there are others after them.`;
  if (count > 0)
    return `${more ? `${orMore(count)}${left} deliveries` : `${count.toLocaleString('en')}${left} ${count === 1 ? 'delivery' : 'deliveries'}`} can be replayed.`;
  return which === 'all' ? 'There is nothing to replay.' : 'Nothing was missed.';
}

const orMore = (count: number): string =>
  count < maxReplayCounted ? count.toLocaleString('en') : `${count.toLocaleString('en')} or more`;
