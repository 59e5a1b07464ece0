import * as v from 'valibot';
import { dayMs } from '../../platform/durations.ts';
import type { FieldError } from '../../platform/errors.ts';
import { parse } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import {
  countReplayable,
  maxReplayedPerCall,
  type ReplayCount,
  type ReplaySelection,
  replay,
  replayableMs,
} from '../../webhooks/deliveries/replay.ts';
import { LinkButton, Submit } from '../ui/buttons.tsx';
import { isLocalTime, momentOf } from '../ui/days.ts';
import { done, FilledForm, filledIn, orProblem, readForm } from '../ui/form.ts';
import { Field, Select } from '../ui/forms.tsx';
import { page, timeZoneOf } from '../ui/layout.tsx';
import { Panel } from '../ui/parts.tsx';
import { ZoneName } from '../ui/time.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, deliveries, pathOf } from './words.ts';

/** The fields of a replay: times as typed, in the reader's zone, and the last delivery of the previous part. */
const names = ['since', 'until', 'which', 'after'] as const;
type ReplayFields = { [name in (typeof names)[number]]?: string };

const fieldsIn = (value: (name: string) => string | undefined): ReplayFields =>
  Object.fromEntries(names.flatMap((name) => (value(name) ? [[name, value(name)]] : [])));

/** Counts the chosen deliveries, and asks. */
export async function countFirst(c: Context) {
  const fields = fieldsIn((name) => c.req.query(name));
  const id = c.req.param('id') ?? '';
  const [webhook, counted] = await Promise.all([
    requireWebhook(c),
    orProblem(async () => countReplayable(c.env, c.get('caller'), id, selectionOf(c, fields))),
  ]);
  const problem = 'message' in counted ? counted : undefined;
  return page(
    c,
    {
      title: 'Replay deliveries',
      above: aboveOf(webhook),
      lead: <code>{webhook.url}</code>,
      narrow: true,
    },
    <>
      {'count' in counted && <Question back={pathOf(webhook)} fields={fields} {...counted} />}
      <Choice fields={fields} errors={problem?.errors ?? []} days={replayableMs(c.env) / dayMs} />
    </>,
    problem && 'invalid',
  );
}

/** Replays as many as one call does. The next page counts what is left. */
export async function replayPart(c: Context) {
  const webhook = await requireWebhook(c);
  const fields = fieldsIn((await readForm(c)).value);
  const { replayed, next } = await replay(c.env, c.get('caller'), webhook.id, selectionOf(c, fields));
  const to = next ? `${c.req.path}?${new URLSearchParams({ ...fields, after: next })}` : pathOf(webhook);
  return replayed === 0
    ? done(c, to, 'Nothing to replay.', 'quiet')
    : done(c, to, `${deliveries(replayed)} queued again.`);
}

/** @throws Refusal: invalid, for a time that does not exist */
function selectionOf(c: Context, fields: ReplayFields): ReplaySelection {
  const Time = v.pipe(
    v.string(),
    v.check(isLocalTime, 'must be a time, such as 2026-11-20T14:30'),
    v.transform((text) => momentOf(timeZoneOf(c), text)),
  );
  const Selection = v.object({
    since: v.optional(Time),
    until: v.optional(Time),
    which: v.optional(v.picklist(['missed', 'all'])),
    after: v.optional(v.pipe(v.string(), v.uuid(), v.toLowerCase())),
  });
  const { which, ...selection } = parse(Selection, fields);
  return { ...selection, includeDelivered: which === 'all' };
}

/** What would be replayed, and the button for it. */
const Question = (props: ReplayCount & { back: string; fields: ReplayFields }) => {
  const { back, fields, count, more } = props;
  const part = more || count > maxReplayedPerCall;
  return (
    <section class="panel" aria-labelledby="question">
      <div class="panel-body stack">
        <h2 id="question">
          {count === 0 && !more
            ? 'There is nothing to replay.'
            : `${deliveries(count)} can be replayed${more ? ', and perhaps more after them' : ''}.`}
        </h2>
        {(count > 0 || more) && (
          <form method="post" action="?" class="stack">
            <p>
              Each keeps its Delivery-Id.{' '}
              {fields.which === 'all'
                ? 'Your receiver will see a repeat of each that it has already received.'
                : 'Your receiver should ignore any that it has already received.'}
            </p>
            {Object.entries(fields).map(([name, value]) => (
              <input type="hidden" name={name} value={value} />
            ))}
            <div class="actions">
              <Submit
                name={
                  part
                    ? `Replay the first ${maxReplayedPerCall.toLocaleString('en')}`
                    : `Replay ${deliveries(count)}`
                }
              />
              <LinkButton href={back} name="Cancel" weight="ghost" />
            </div>
          </form>
        )}
      </div>
    </section>
  );
};

const Choice = (props: { fields: ReplayFields; errors: FieldError[]; days: number }) => (
  <Panel id="choice" title="Choose other deliveries">
    <form class="panel-body stack" method="get">
      <FilledForm.Provider value={filledIn({ which: 'missed', ...props.fields }, props.errors)}>
        <Select
          name="which"
          label="Deliveries"
          options={[
            ['missed', 'Missed deliveries: failed or cancelled'],
            ['all', 'All deliveries, including delivered ones'],
          ]}
        />
        <div class="grid gap-4 sm:grid-cols-2">
          <Field name="since" label="Since" type="datetime-local" />
          <Field name="until" label="Until" type="datetime-local" />
        </div>
      </FilledForm.Provider>
      <p class="hint">
        Both in <ZoneName />. Deliveries of the last {Math.floor(props.days)} days can be replayed.
      </p>
      <div class="actions">
        <Submit name="Count" weight="plain" />
      </div>
    </form>
  </Panel>
);
