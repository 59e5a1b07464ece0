import * as v from 'valibot';
import { dayMs } from '../../platform/durations.ts';
import type { FieldError } from '../../platform/errors.ts';
import { parse, Timestamp, timestamp } from '../../platform/fields.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { maxReplayCounted } from '../../webhooks/deliveries/policy.ts';
import {
  countReplayable,
  maxReplayedPerCall,
  type ReplayCount,
  type ReplaySelection,
  replay,
  replayableMs,
} from '../../webhooks/deliveries/replay.ts';
import { LinkButton, Submit } from '../ui/buttons.tsx';
import { isLocalTime, localTime, momentOf } from '../ui/days.ts';
import { done, FilledForm, filledIn, orProblem, readForm } from '../ui/form.ts';
import { Field, Problem, Select } from '../ui/forms.tsx';
import { page, timeZoneOf } from '../ui/layout.tsx';
import { Note, Panel } from '../ui/parts.tsx';
import { reader } from '../ui/reader.ts';
import { ZoneName } from '../ui/time.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, deliveries, pathOf } from './words.ts';

/** Counts the selected deliveries, and asks. After a part was replayed, shows that and the rest. */
export async function countFirst(c: Context) {
  const fields = replayFields((name) => c.req.query(name), timeZoneOf(c));
  // Fixes the end, so that exactly the counted deliveries are replayed.
  const asked = { ...fields, until: fields.until || timestamp(Date.now()) };
  const id = c.req.param('id') ?? '';
  const [webhook, counted] = await Promise.all([
    requireWebhook(c),
    orProblem(async () => countReplayable(c.env, c.get('caller'), id, selectionOf(asked))),
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
      <Problem message={problem?.errors.length === 0 ? problem.message : undefined} />
      {!problem && fields.sent !== '' && (
        <Note mood="ok" role="status">
          <p>{deliveries(sentBefore(fields))} queued again.</p>
        </Note>
      )}
      {'count' in counted && (
        <Question back={pathOf(webhook)} fields={asked} count={counted} days={replayableMs(c.env) / dayMs} />
      )}
      {fields.sent === '' && <Choice fields={fields} errors={problem?.errors ?? []} />}
    </>,
    problem && 'invalid',
  );
}

/** Replays as many as one call does. The next page shows what is left, or that all were sent. */
export async function replayPart(c: Context) {
  const webhook = await requireWebhook(c);
  const form = await readForm(c);
  const fields = replayFields(form.value, timeZoneOf(c));
  const { replayed, next = '' } = await replay(c.env, c.get('caller'), webhook.id, selectionOf(fields));
  const sent = sentBefore(fields) + replayed;
  if (next !== '') {
    const step = new URLSearchParams(filled({ ...fields, after: next, sent: String(sent) }));
    return seeOther(c, `${c.req.path}?${step}`);
  }
  return sent === 0
    ? done(c, pathOf(webhook), 'Nothing to replay.', 'quiet')
    : done(c, pathOf(webhook), `${deliveries(sent)} queued again.`);
}

const Choice = ({ fields, errors }: { fields: ReplayFields; errors: FieldError[] }) => {
  const { zone } = reader();
  const inZone = (text: string) => (v.is(Timestamp, text) ? localTime(zone, Date.parse(text)) : text);
  return (
    <Panel id="choice" title="Choose other deliveries">
      <form class="panel-body stack" method="get">
        <FilledForm.Provider value={filledIn({ ...fields, which: fields.which || 'missed' }, errors, inZone)}>
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
          Both in <ZoneName />. Leave empty for everything that can still be replayed.
        </p>
        <div class="actions">
          <Submit name="Count" weight="plain" />
        </div>
      </form>
    </Panel>
  );
};

/** The fields of a replay in its addresses and forms. */
const names = ['since', 'until', 'which', 'after', 'sent'] as const;
type ReplayFields = Record<(typeof names)[number], string>;

/** The fields of a form or an address, empty if missing. Times typed in `zone` become UTC. */
function replayFields(value: (name: string) => string | undefined, zone: string): ReplayFields {
  const given = Object.fromEntries(names.map((name) => [name, value(name) ?? ''])) as ReplayFields; // of the names
  return { ...given, since: inUtc(given.since, zone), until: inUtc(given.until, zone) };
}

/** A typed time in UTC. A time that does not exist is kept, to be refused. */
function inUtc(text: string, zone: string): string {
  if (!isLocalTime(text)) return text;
  const asUtc = text.length === '2026-11-20T14:30'.length ? `${text}:00Z` : `${text}Z`;
  return v.is(Timestamp, asUtc) ? timestamp(momentOf(zone, text)) : asUtc;
}

const filled = (fields: ReplayFields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

const Selection = v.object({
  since: v.optional(Timestamp),
  until: v.optional(Timestamp),
  which: v.optional(v.picklist(['missed', 'all'])),
  after: v.optional(v.pipe(v.string(), v.uuid(), v.toLowerCase())),
});

/** The selection of the fields. @throws Refusal: invalid, for a time that does not exist */
function selectionOf(fields: ReplayFields): ReplaySelection {
  const { which, ...selection } = parse(Selection, filled(fields));
  return { ...selection, includeDelivered: which === 'all' };
}

const sentBefore = ({ sent }: ReplayFields): number => (/^\d{1,12}$/.test(sent) ? Number(sent) : 0);

/** What would be replayed, and the button for it. */
const Question = (props: { back: string; fields: ReplayFields; count: ReplayCount; days: number }) => {
  const { back, fields, count, days } = props;
  const isOneCall = !count.more && count.count <= maxReplayedPerCall;
  const part = `${fields.sent === '' ? 'first' : 'next'} ${maxReplayedPerCall.toLocaleString('en')}`;
  return (
    <section class="panel" aria-labelledby="question">
      <div class="panel-body stack">
        <h2 id="question">{inWords(count, fields)}</h2>
        {count.tooOld > 0 && (
          <p class="sub">
            {`${deliveries(count.tooOld, maxReplayCounted)} can no longer be replayed: that is possible for ${Math.floor(days)} days.`}
          </p>
        )}
        {(count.count > 0 || count.more) && (
          <>
            <p>
              Each keeps its Delivery-Id.{' '}
              {fields.which === 'all'
                ? 'Your receiver will see a repeat of each that it has already received.'
                : 'Your receiver should ignore any that it has already received.'}
            </p>
            <form method="post" action="?">
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

function inWords({ count, more }: ReplayCount, { which, sent }: ReplayFields): string {
  const left = sent === '' ? '' : 'more ';
  if (more && count < maxReplayCounted)
    return `Of the first ${maxReplayCounted.toLocaleString('en')} ${left}deliveries ${count} can be replayed, and there are more after them.`;
  if (count > 0)
    return `${counted(count, `${left}delivery`, `${left}deliveries`, more ? maxReplayCounted : undefined)} can be replayed.`;
  return which === 'all' ? 'There is nothing to replay.' : 'Nothing was missed.';
}
