import { validate as isUuid } from 'uuid';
import type { Context } from '../../platform/http/context.ts';
import { starter } from '../../webhooks/deliveries/consumer.ts';
import { replaySome } from '../../webhooks/deliveries/replay.ts';
import { replayableMs } from '../../webhooks/deliveries/replayable.ts';
import type { NewNotification } from '../../webhooks/notifications/insert.ts';
import { deleteWebhook, type StoredWebhook } from '../../webhooks/service.ts';
import { sendTest, testAccident, testEvent } from '../../webhooks/simulate.ts';
import { dayMs } from '../ui/days.ts';
import { done, readForm } from '../ui/form.ts';
import { Confirm } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { firstOutcome } from './delivery.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, deliveries, pathOf, titleOf, typesOf } from './words.ts';

/** What can be done with a webhook besides editing it. Each says what has come of it. */
export async function confirmDelete(c: Context) {
  const webhook = await requireWebhook(c);
  return page(
    c,
    {
      title: 'Delete this webhook?',
      above: aboveOf(webhook),
      narrow: true,
    },
    <Confirm to={c.req.path} confirm="Delete webhook" back={pathOf(webhook)} cancel="Keep it">
      <code>{webhook.url}</code> will no longer receive {typesOf(webhook)}. Pending deliveries are cancelled.
      Its charts and settings are deleted, too.
    </Confirm>,
  );
}

export async function remove(c: Context) {
  const webhook = await requireWebhook(c);
  await deleteWebhook(c.env, c.get('caller'), webhook.id);
  return done(c, '/portal/webhooks', `Webhook "${titleOf(webhook)}" was deleted. It is called no more.`);
}

export async function sendEvent(c: Context) {
  const webhook = await requireWebhook(c);
  const { text, mood } = await sendAndWait(c, webhook, testEvent());
  return done(c, pathOf(webhook), `Test event sent. ${text}`, mood);
}

export async function sendAccident(c: Context) {
  const webhook = await requireWebhook(c);
  const { text, mood } = await sendAndWait(c, webhook, testAccident(webhook));
  const rest = 'Levels 2 and 3 follow within six seconds.';
  return done(c, pathOf(webhook), `Level 1 of a test accident sent. ${text} ${rest}`, mood);
}

/** Sends test notifications, and waits a moment for what the receiver makes of the first. */
async function sendAndWait(c: Context, webhook: StoredWebhook, notifications: NewNotification[]) {
  const since = Date.now();
  const start = starter(c.env, c.executionCtx);
  const key = await sendTest(c.env, c.get('caller'), c.get('requestId'), webhook, notifications, start);
  return firstOutcome(c, key, since);
}

/** A page of deliveries has 20, a search 60. */
const maxSelected = 100;

/** Replays the deliveries whose boxes are checked. */
export async function replaySelected(c: Context) {
  const webhook = await requireWebhook(c);
  const form = await readForm(c);
  const ids = form
    .values('delivery')
    .filter((id) => isUuid(id))
    .slice(0, maxSelected);
  const path = pathOf(webhook);
  if (ids.length === 0) return done(c, path, 'Nothing to replay: select deliveries first.', 'quiet');
  const replayed = await replaySome(c.env, c.get('caller'), webhook.id, ids);
  return replayed > 0
    ? done(c, path, `${deliveries(replayed)} queued again.`)
    : done(
        c,
        path,
        `Nothing to replay: a delivery must have ended within the last ${replayableMs(c.env) / dayMs} days, and the webhook must still subscribe to it.`,
        'quiet',
      );
}
