import { operatorIn, operatorInOwnerOf } from '../../accounts/owner.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { invalid } from '../../platform/errors.ts';
import {
  type Delivery,
  findDelivery,
  listDeliveries,
  locateDelivery,
} from '../../webhooks/deliveries/queries.ts';
import type { DeliveryKey } from '../../webhooks/deliveries/queue.ts';
import { listReceivers } from '../../webhooks/deliveries/receivers.ts';
import { countReplayable, replay, replayOne, sendNow } from '../../webhooks/deliveries/replay.ts';
import { setReceiverLimits } from '../../webhooks/limits.ts';
import { pauseWebhook, resumeWebhook } from '../../webhooks/pause.ts';
import type { webhookOperations } from '../api/webhooks.ts';
import { findDeliveries } from '../find-deliveries.ts';
import type { Handlers } from '../handler.ts';

export const webhookHandlers: Handlers<typeof webhookOperations> = {
  listWebhookHealth: ({ env, caller }) => listReceivers(env, caller),

  async limitReceiver({ env, caller, id, body }) {
    await setReceiverLimits(env, caller, id, body);
    return receiverOf(env, caller, id);
  },

  async pauseWebhook({ env, caller, id }) {
    await pauseWebhook(env, caller, id);
    return receiverOf(env, caller, id);
  },

  async resumeWebhook({ env, caller, id }) {
    await resumeWebhook(env, caller, id);
    return receiverOf(env, caller, id);
  },

  async listDeliveries({ env, query }) {
    const caller = await operatorInOwnerOf(env, 'webhook', query.webhookId);
    return (await listDeliveries(env, caller, query)).map(withNextAttempt);
  },

  async findDeliveries({ env, query: { eventId, vin } }) {
    if (!eventId && !vin) throw invalid('Give an eventId or a vin');
    return (await findDeliveries(env, eventId ? { eventId } : { vin: String(vin) })).map(withNextAttempt);
  },

  async getDelivery({ env, id }) {
    return show(env, await locateDelivery(env, id));
  },

  async replayDelivery({ env, id }) {
    const { accountId, ...key } = await locateDelivery(env, id);
    return replayOne(env, operatorIn(accountId), key);
  },

  async sendDelivery({ env, id }) {
    const located = await locateDelivery(env, id);
    await sendNow(env, operatorIn(located.accountId), located);
    return show(env, located);
  },

  countReplay: ({ env, caller, id, query }) => countReplayable(env, caller, id, query),
  replayWebhook: ({ env, caller, id, body }) => replay(env, caller, id, body),
};

async function receiverOf(env: Env, caller: Caller, id: string) {
  const [receiver] = await listReceivers(env, caller, id);
  if (!receiver) throw invalid('Unknown webhook');
  return receiver;
}

async function show(env: Env, { accountId, ...key }: DeliveryKey & { accountId: string }) {
  const found = await findDelivery(env, operatorIn(accountId), key);
  if (!found) throw invalid('Unknown delivery');
  return withNextAttempt(found);
}

/** A finished delivery has no next attempt. */
const withNextAttempt = <D extends Pick<Delivery, 'status' | 'nextAttemptAt'>>(delivery: D) => ({
  ...delivery,
  nextAttemptAt: delivery.status === 'pending' ? delivery.nextAttemptAt : null,
});
