import { by, type Context, inPath } from '../../../core/platform/http/context.ts';
import { starter } from '../../../core/webhooks/deliveries/consumer.ts';
import {
  ACCIDENT,
  EVENT,
  type NotificationType,
} from '../../../core/webhooks/notifications/types.ts';
import { findWebhook } from '../../../core/webhooks/stored.ts';
import { pathOf } from '../../../ui/webhooks.ts';
import { tryNow } from '../replay.ts';
import { madeUp, sendTest } from '../simulate.ts';
import { send } from './delivery.tsx';

export async function tryAgain(c: Context) {
  const webhook = await inPath(c, findWebhook);
  return send(c, pathOf(webhook), 'Tried again. ', () => tryNow(...by(c), webhook.id));
}

const sends = (type: NotificationType, said: string) => async (c: Context) => {
  const webhook = await inPath(c, findWebhook);
  return send(c, pathOf(webhook), said, async () => {
    const made = madeUp({ type }, webhook);
    const start = starter(c.env, c.executionCtx);
    const sent = await sendTest(...by(c), c.get('requestId'), webhook, made, start);
    return { webhookId: webhook.id, id: sent.deliveryIds[0] ?? '' };
  });
};

export const sendEvent = sends(EVENT, 'Test event sent. ');
export const sendAccident = sends(
  ACCIDENT,
  'Level 1 of a test accident sent, levels 2 and 3 follow within six seconds. ',
);
