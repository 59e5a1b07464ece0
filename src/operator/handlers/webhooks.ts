import { operatorIn, operatorInOwnerOf } from '../../accounts/owner.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { invalid } from '../../platform/errors.ts';
import { pauseWebhook, resumeWebhook, setReceiverLimits } from '../../webhooks/control.ts';
import { findDelivery, listDeliveries, locateDelivery } from '../../webhooks/deliveries/queries.ts';
import { listReceivers } from '../../webhooks/deliveries/receivers.ts';
import { countReplayable, replay, replayOne, sendNow } from '../../webhooks/deliveries/replay.ts';
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
    return listDeliveries(env, caller, query);
  },

  async findDeliveries({ env, query: { eventId, vin } }) {
    if (!eventId && !vin) throw invalid('Give an eventId or a vin');
    return findDeliveries(env, eventId ? { eventId } : { vin: String(vin) });
  },

  async getDelivery({ env, id }) {
    return show(env, await located(env, id));
  },

  async replayDelivery({ env, id }) {
    const { accountId, ...key } = await located(env, id);
    return replayOne(env, operatorIn(accountId), key);
  },

  async sendDelivery({ env, id }) {
    const key = await located(env, id);
    await sendNow(env, operatorIn(key.accountId), key);
    return show(env, key);
  },

  countReplay: ({ env, caller, id, query }) => countReplayable(env, caller, id, query),
  replayWebhook: ({ env, caller, id, body }) => replay(env, caller, id, body),
};

async function receiverOf(env: Env, caller: Caller, id: string) {
  const [receiver] = await listReceivers(env, caller, id);
  if (!receiver) throw invalid('Unknown webhook');
  return receiver;
}

type Located = NonNullable<Awaited<ReturnType<typeof locateDelivery>>>;

async function located(env: Env, id: string): Promise<Located> {
  const key = await locateDelivery(env, id);
  if (!key) throw invalid('Unknown delivery');
  return key;
}

async function show(env: Env, { accountId, ...key }: Located) {
  const found = await findDelivery(env, operatorIn(accountId), key);
  if (!found) throw invalid('Unknown delivery');
  return found;
}
