import { Hono } from 'hono';
import { type Child, useContext } from 'hono/jsx';
import { timestamp } from '../../platform/fields.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { seeOther } from '../../platform/http/context.ts';
import { replay } from '../../webhooks/deliveries/replay.ts';
import { countReplayable, replayableMs } from '../../webhooks/deliveries/replayable.ts';
import type { StoredWebhook } from '../../webhooks/service.ts';
import { limitActions } from '../session/action-limit.ts';
import { needs } from '../session/rights.ts';
import { done } from '../ui/flash.ts';
import { type FormProblem, readForm, submit } from '../ui/form.ts';
import { Field, Problem, Select, Submit } from '../ui/forms.tsx';
import { page, timeZoneOf } from '../ui/layout.tsx';
import { localTime } from '../ui/local-time.ts';
import { Panel } from '../ui/parts.tsx';
import { TimeZone, ZoneName } from '../ui/time.tsx';
import { type ReplayFields, replayFields, selectionOf, sentBefore, stepOf } from './replay-form.ts';
import { Question, Sent } from './replay-question.tsx';
import { requireWebhook } from './webhook.tsx';
import { pathOf, titleOf } from './webhook-words.ts';
import { deliveries } from './words.ts';

/** Replaying a webhook's deliveries, with a count before it starts, which costs as much as an action. */
export const replayPages = new Hono<App>()
  .get('/webhooks/:id/replay', needs('member'), limitActions, countFirst)
  .post('/webhooks/:id/replay', needs('member'), limitActions, replayPart);

/** Counts what the form's fields select, and asks. After a part has been replayed, it tells of that and the rest. */
async function countFirst(c: Context) {
  const fields = replayFields((name) => c.req.query(name), timeZoneOf(c));
  // So that what is replayed is what was counted, however long somebody thinks about it.
  const asked = { ...fields, until: fields.until || timestamp(Date.now()) };
  const id = c.req.param('id') ?? '';
  return submit(
    async () => {
      const [webhook, count] = await Promise.all([
        requireWebhook(c),
        countReplayable(c.env, c.get('caller'), id, selectionOf(asked)),
      ]);
      return replayPage(c, webhook, fields, {
        content: (
          <>
            {fields.sent !== '' && <Sent sent={sentBefore(fields)} />}
            <Question
              to={c.req.path}
              back={pathOf(webhook)}
              fields={asked}
              count={count}
              days={daysOf(c.env)}
            />
          </>
        ),
      });
    },
    async (problem) => replayPage(c, await requireWebhook(c), fields, { problem }),
  );
}

/** Replays as much as one call does. The page that follows tells what is left, or that all is on its way. */
async function replayPart(c: Context) {
  const webhook = await requireWebhook(c);
  const form = await readForm(c);
  const fields = replayFields(form.value, timeZoneOf(c));
  const { replayed, next = '' } = await replay(c.env, c.get('caller'), webhook.id, selectionOf(fields));
  const sent = sentBefore(fields) + replayed;
  if (next !== '') return seeOther(c, stepOf(c.req.path, { ...fields, after: next, sent: String(sent) }));
  return sent === 0
    ? done(c, pathOf(webhook), 'Nothing to replay.', 'quiet')
    : done(c, pathOf(webhook), `${deliveries(sent)} queued again.`);
}

function replayPage(
  c: Context,
  webhook: StoredWebhook,
  fields: ReplayFields,
  { content, problem }: { content?: Child; problem?: FormProblem },
) {
  return page(
    c,
    {
      title: 'Replay deliveries',
      above: [
        { href: '/portal/webhooks', name: 'Webhooks' },
        { href: pathOf(webhook), name: titleOf(webhook) },
      ],
      lead: <code>{webhook.url}</code>,
      narrow: true,
    },
    <>
      <Problem message={problem?.errors.length === 0 ? problem.message : undefined} />
      {content}
      {fields.sent === '' && <Choice fields={fields} problem={problem} />}
    </>,
    problem && 'invalid',
  );
}

const daysOf = (env: Env): number => Math.floor(replayableMs(env) / 86_400_000);

/** Which deliveries to count. */
const Choice = ({ fields, problem }: { fields: ReplayFields; problem: FormProblem | undefined }) => (
  <Panel id="choice" title="Choose others">
    <form class="panel-body stack" method="get">
      <Select
        name="which"
        label="Deliveries"
        value={fields.which || 'missed'}
        options={[
          ['missed', 'What was missed: failed or cancelled'],
          ['all', 'Everything, also what was delivered'],
        ]}
      />
      <div class="grid gap-4 sm:grid-cols-2">
        <TimeField name="since" label="Since" value={fields.since} problem={problem} />
        <TimeField name="until" label="Until" value={fields.until} problem={problem} />
      </div>
      <p class="hint">
        Both in <ZoneName />. Without them, all that can still be replayed.
      </p>
      <div class="actions">
        <Submit name="Count" weight="plain" />
      </div>
    </form>
  </Panel>
);

const TimeField = (props: {
  name: 'since' | 'until';
  label: string;
  value: string;
  problem: FormProblem | undefined;
}) => {
  const at = Date.parse(props.value);
  return (
    <Field
      name={props.name}
      label={props.label}
      type="datetime-local"
      value={
        Number.isNaN(at) || !props.value.endsWith('Z') ? props.value : localTime(useContext(TimeZone), at)
      }
      errors={props.problem?.errors ?? []}
    />
  );
};
