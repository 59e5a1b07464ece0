import * as v from 'valibot';
import { dayMs } from '../../platform/durations.ts';
import { invalid } from '../../platform/errors.ts';
import { parse } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { starter } from '../../webhooks/deliveries/consumer.ts';
import { maxReplayedPerCall } from '../../webhooks/deliveries/policy.ts';
import {
  countReplayable,
  type ReplaySelection,
  replay,
  replayableMs,
} from '../../webhooks/deliveries/read/replay.ts';
import { ACCIDENT, EVENT, type NotificationType } from '../../webhooks/notifications/types.ts';
import { deleteWebhook, rotateSecret, setPaused, updateWebhook } from '../../webhooks/service.ts';
import { madeUp, sendTest } from '../../webhooks/simulate.ts';
import { LinkButton, PostForm, Submit } from '../ui/buttons.tsx';
import { isLocalTime, momentOf } from '../ui/days.ts';
import { confirmed, Field, Form, Select } from '../ui/forms.tsx';
import { page, timeZoneOf } from '../ui/layout.tsx';
import { shownOnce } from '../ui/once.ts';
import { Note, Panel, ShownOnce } from '../ui/parts.tsx';
import { done, FilledForm, filledIn, orProblem, readForm, submit } from '../ui/submit.ts';
import { ZoneName } from '../ui/time.tsx';
import { send } from './delivery.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, deliveries, pathOf, titleOf, typesOf } from './words.ts';

export const remove = confirmed(async (c) => {
  const webhook = await requireWebhook(c);
  return {
    title: 'Delete this webhook?',
    above: aboveOf(webhook),
    narrow: true,
    text: (
      <>
        <code>{webhook.url}</code> will no longer receive {typesOf(webhook)}. Pending deliveries are
        cancelled. Its charts and settings are deleted, too.
      </>
    ),
    does: () => deleteWebhook(c.env, c.get('caller'), webhook.id),
    said: `Webhook "${titleOf(webhook)}" was deleted. No more deliveries will be sent.`,
    back: pathOf(webhook),
    next: '/portal/webhooks',
  };
});

export async function pause(c: Context) {
  const webhook = await setPaused(c.env, c.get('caller'), (await requireWebhook(c)).id, true);
  return done(c, pathOf(webhook), 'Webhook paused. Deliveries wait until you resume it.');
}

export async function resume(c: Context) {
  const webhook = await setPaused(c.env, c.get('caller'), (await requireWebhook(c)).id, false);
  return done(c, pathOf(webhook), 'Webhook resumed. Pending deliveries are being sent, accidents first.');
}

export const sendEvent = (c: Context) => sendMadeUp(c, EVENT, 'Test event sent. ');

export const sendAccident = (c: Context) =>
  sendMadeUp(c, ACCIDENT, 'Level 1 of a test accident sent, levels 2 and 3 follow within six seconds. ');

async function sendMadeUp(c: Context, type: NotificationType, said: string) {
  const webhook = await requireWebhook(c);
  const start = starter(c.env, c.executionCtx);
  return send(c, pathOf(webhook), said, async () => {
    const made = madeUp({ type }, webhook);
    const sent = await sendTest(c.env, c.get('caller'), c.get('requestId'), webhook, made, start);
    return { webhookId: webhook.id, id: sent.deliveryIds[0] ?? '' };
  });
}

/** The page of a webhook's signatures, with a new secret, which is shown only once. */
export async function showSigning(c: Context) {
  const [webhook, secret] = await Promise.all([requireWebhook(c), shownOnce(c)]);
  return page(
    c,
    { title: 'Signed deliveries', above: aboveOf(webhook), narrow: true },
    <>
      {secret && (
        <ShownOnce id="secret" title="Copy the signing secret now" value={secret}>
          This is the only time it is shown. Lost it? Rotate it.
        </ShownOnce>
      )}
      <Panel id="signing" title={webhook.signing ? 'Deliveries are signed' : 'Deliveries are not signed'}>
        <Form look="panel-body grid gap-3">
          <p>
            A signature lets your receiver verify that a call comes from this service and was not changed on
            the way. Signatures follow Standard Webhooks. After a rotation both secrets sign for 24 hours.{' '}
            <a href="/docs/signatures">How to verify one</a>
          </p>
          <div class="actions">
            {!webhook.signing && <Submit name="Sign deliveries" does="on" />}
            {webhook.signing && <Submit name="Rotate the secret" does="rotate" />}
            {webhook.signing && <Submit name="Stop signing" does="off" weight="danger" />}
          </div>
        </Form>
      </Panel>
    </>,
  );
}

/** Switches signatures on or off, or rotates the secret. */
export async function changeSigning(c: Context) {
  const webhook = await requireWebhook(c);
  const { id, revision } = webhook;
  return submit(
    c,
    async (form) => {
      const does = form.value('do');
      if (does === 'rotate') {
        await rotateSecret(c.env, c.get('caller'), id);
        return done(c, c.req.path, 'The secret was rotated.', 'ok', true);
      }
      if (does !== 'on' && does !== 'off') throw invalid('Choose what to do');
      const signing = does === 'on';
      const input = { ...webhook, oauth: undefined, signing };
      const { signingSecret } = await updateWebhook(c.env, c.get('caller'), id, input, { revision });
      return signing
        ? done(c, c.req.path, 'Deliveries of this webhook are signed now.', 'ok', signingSecret !== undefined)
        : done(c, pathOf(webhook), 'Deliveries of this webhook are no longer signed.');
    },
    () => showSigning(c),
  );
}

/** The fields of a replay: times as typed, in the reader's zone, and the last delivery of the previous part. */
const replayFields = ['since', 'until', 'which', 'after'] as const;
type ReplayFields = { [name in (typeof replayFields)[number]]?: string };

const fieldsIn = (value: (name: string) => string | undefined): ReplayFields =>
  Object.fromEntries(replayFields.flatMap((name) => (value(name) ? [[name, value(name)]] : [])));

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
    after: v.optional(v.pipe(v.string(), v.uuid(), v.toLowerCase())),
  });
  const { which, ...given } = fields;
  return { ...parse(Selection, given), includeDelivered: which === 'all' };
}

/** Counts the chosen deliveries, and asks before they are replayed. */
export async function askReplay(c: Context) {
  const fields = fieldsIn((name) => c.req.query(name));
  const id = c.req.param('id') ?? '';
  const [webhook, counted] = await Promise.all([
    requireWebhook(c),
    orProblem(async () => countReplayable(c.env, c.get('caller'), id, selectionOf(c, fields))),
  ]);
  const problem = 'message' in counted ? counted : undefined;
  const { count, more } = 'count' in counted ? counted : { count: 0, more: false };
  const days = Math.floor(replayableMs(c.env) / dayMs);
  return page(
    c,
    {
      title: 'Replay deliveries',
      above: aboveOf(webhook),
      lead: <code>{webhook.url}</code>,
      narrow: true,
    },
    <>
      {!problem && !count && !more && (
        <Note mood="quiet">
          <p>There is nothing to replay.</p>
        </Note>
      )}
      {(count > 0 || more) && (
        <Panel
          id="question"
          title={`${deliveries(count)} can be replayed${more ? ', and perhaps more after them' : ''}.`}
        >
          <PostForm to="?" look="panel-body stack">
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
                name={`Replay ${more ? `the first ${maxReplayedPerCall.toLocaleString('en')}` : deliveries(count)}`}
              />
              <LinkButton href={pathOf(webhook)} name="Cancel" weight="ghost" />
            </div>
          </PostForm>
        </Panel>
      )}
      <Panel id="choice" title="Choose other deliveries">
        <form class="panel-body stack" method="get">
          <FilledForm.Provider value={filledIn(fields, problem?.errors ?? [])}>
            <Select
              name="which"
              label="Deliveries"
              options={[
                ['', 'Missed deliveries: failed or cancelled'],
                ['all', 'All deliveries, including delivered ones'],
              ]}
            />
            <div class="grid gap-4 sm:grid-cols-2">
              <Field name="since" label="Since" type="datetime-local" />
              <Field name="until" label="Until" type="datetime-local" />
            </div>
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
  const webhook = await requireWebhook(c);
  const fields = fieldsIn((await readForm(c)).value);
  const { replayed, next } = await replay(c.env, c.get('caller'), webhook.id, selectionOf(c, fields));
  const to = next ? `${c.req.path}?${new URLSearchParams({ ...fields, after: next })}` : pathOf(webhook);
  return replayed === 0
    ? done(c, to, 'Nothing to replay.', 'quiet')
    : done(c, to, `${deliveries(replayed)} queued again.`);
}
