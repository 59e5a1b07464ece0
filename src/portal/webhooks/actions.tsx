import type { Context } from '../../platform/http/context.ts';
import { setPaused } from '../../webhooks/control.ts';
import { starter } from '../../webhooks/deliveries/consumer.ts';
import type { NewNotification } from '../../webhooks/notifications/insert.ts';
import { deleteWebhook } from '../../webhooks/service.ts';
import { sendTest, testAccident, testEvent } from '../../webhooks/simulate.ts';
import type { StoredWebhook } from '../../webhooks/stored.ts';
import { done, submit } from '../ui/form.ts';
import { confirmed } from '../ui/forms.tsx';
import { firstOutcome } from './delivery.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, pathOf, titleOf, typesOf } from './words.ts';

/** A webhook's actions besides editing. Each reports its result. */
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

export const sendEvent = (c: Context) => sendAndWait(c, testEvent, 'Test event sent.');

export const sendAccident = (c: Context) =>
  sendAndWait(
    c,
    testAccident,
    'Level 1 of a test accident sent.',
    ' Levels 2 and 3 follow within six seconds.',
  );

/** Sends test notifications, and waits a moment for the receiver's first response. */
async function sendAndWait(
  c: Context,
  make: (webhook: StoredWebhook) => NewNotification[],
  said: string,
  rest = '',
) {
  const webhook = await requireWebhook(c);
  const since = Date.now();
  const [caller, requestId, start] = [c.get('caller'), c.get('requestId'), starter(c.env, c.executionCtx)];
  return submit(
    c,
    async () => {
      const sent = await sendTest(c.env, caller, requestId, webhook, make(webhook), start);
      const key = { webhookId: webhook.id, id: sent.deliveryIds[0] ?? '' };
      const { text, mood } = await firstOutcome(c, key, since);
      return done(c, pathOf(webhook), `${said} ${text}${rest}`, mood);
    },
    ({ message }) => done(c, pathOf(webhook), `${message}.`, 'quiet'),
  );
}
