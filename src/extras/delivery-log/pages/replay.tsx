import * as v from 'valibot';
import { dayMs } from '../../../core/platform/durations.ts';
import { by, type Context, inPath } from '../../../core/platform/http/context.ts';
import { findWebhook } from '../../../core/webhooks/stored.ts';
import { LinkButton, PostForm, Submit, WebhookUrl } from '../../../ui/buttons.tsx';
import { choice, drawn, line, valuesIn } from '../../../ui/forms/form-fields.tsx';
import { page, timeZoneOf } from '../../../ui/layout.tsx';
import { Note, Panel } from '../../../ui/parts.tsx';
import { done, FilledForm, filledIn, orProblem } from '../../../ui/submit.ts';
import { isLocalTime, momentOf, ZoneName } from '../../../ui/time.tsx';
import { aboveOf, deliveries, pathOf } from '../../../ui/webhooks.ts';
import { countReplayable, replay } from '../replay.ts';
import { type ReplaySelection, replayableMs } from '../replayable.ts';
import { maxReplayedPerCall } from '../schema.ts';

/** What a replay is chosen by, in the address: times are in the reader's zone. */
function fieldsFor(c: Context) {
  const Time = v.pipe(
    v.string(),
    v.check((text) => text === '' || isLocalTime(text), 'must be a time, such as 2026-11-20T14:30'),
    v.transform((text) => (text ? momentOf(timeZoneOf(c), text) : undefined)),
  );
  const which = choice('Deliveries', [
    ['', 'Missed deliveries: failed or cancelled'],
    ['all', 'All deliveries, including delivered ones'],
  ]);
  const since = line('Since', Time, { type: 'datetime-local' });
  const until = line('Until', Time, { type: 'datetime-local' });
  return { which: { which }, times: { since, until } };
}

/** Goes on `after` a previous part's last delivery. @throws Refusal: invalid */
function selectionIn(c: Context): ReplaySelection {
  const { which, times } = fieldsFor(c);
  const chosen = valuesIn({ ...which, ...times }, filledIn(c.req.query(), []));
  return { ...chosen, after: c.req.query('after'), includeDelivered: chosen.which === 'all' };
}

/** Counts the chosen deliveries, and asks before they are replayed. */
export async function askReplay(c: Context) {
  const id = c.req.param('id') ?? '';
  const [webhook, counted] = await Promise.all([
    inPath(c, findWebhook),
    orProblem(async () => countReplayable(...by(c), id, selectionIn(c))),
  ]);
  const problem = 'message' in counted ? counted : undefined;
  const { count, more } = 'count' in counted ? counted : { count: 0, more: false };
  const { which, times } = fieldsFor(c);
  const days = Math.floor(replayableMs(c.env) / dayMs);
  const first = `the first ${maxReplayedPerCall.toLocaleString('en')}`;
  return page(
    c,
    {
      title: 'Replay deliveries',
      above: aboveOf(webhook),
      lead: (
        <code>
          <WebhookUrl url={webhook.url} />
        </code>
      ),
      narrow: true,
    },
    <>
      {!problem && !count && !more && <Note mood="quiet">There is nothing to replay.</Note>}
      {(count > 0 || more) && (
        <Panel
          title={`${deliveries(count)} can be replayed${more ? ', and perhaps more after them' : ''}.`}
        >
          <PostForm look="panel-body stack">
            <p>
              Each keeps its Delivery-Id.{' '}
              {c.req.query('which') === 'all'
                ? 'Your receiver will see a repeat of each that it has already received.'
                : 'Your receiver should ignore any that it has already received.'}
            </p>
            <div class="actions">
              <Submit name={`Replay ${more ? first : deliveries(count)}`} />
              <LinkButton href={pathOf(webhook)} name="Cancel" weight="ghost" />
            </div>
          </PostForm>
        </Panel>
      )}
      <Panel title="Choose other deliveries">
        <form class="panel-body stack" method="get">
          <FilledForm.Provider value={filledIn(c.req.query(), problem?.errors ?? [])}>
            {drawn(which)}
            <div class="grid gap-4 sm:grid-cols-2">{drawn(times)}</div>
          </FilledForm.Provider>
          <p class="hint">
            Both in <ZoneName />. Deliveries of the last {days} days can be replayed.
          </p>
          <div class="actions">
            <Submit name="Count" weight="plain" />
          </div>
        </form>
      </Panel>
    </>,
    problem && 'invalid',
  );
}

/** Replays as many as one call does. The next page counts what is left. */
export async function replayPart(c: Context) {
  const webhook = await inPath(c, findWebhook);
  const { replayed, next } = await replay(...by(c), webhook.id, selectionIn(c));
  const to = next
    ? `${c.req.path}?${new URLSearchParams({ ...c.req.query(), after: next })}`
    : pathOf(webhook);
  return replayed === 0
    ? done(c, to, 'Nothing to replay.', 'quiet')
    : done(c, to, `${deliveries(replayed)} queued again.`);
}
