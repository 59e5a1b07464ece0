import { operatorIn, operatorInOwnerOf } from '../../accounts/owner.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { invalid } from '../../platform/errors.ts';
import { setPaused, setReceiverLimits } from '../../webhooks/control.ts';
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
    await setPaused(env, caller, id, true);
    return receiverOf(env, caller, id);
  },

  async resumeWebhook({ env, caller, id }) {
    await setPaused(env, caller, id, false);
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
    const located = await locateDelivery(env, id);
    return located && show(env, located);
  },

  async replayDelivery({ env, id }) {
    const located = await locateDelivery(env, id);
    return located && replayOne(env, operatorIn(located.accountId), located);
  },

  async sendDelivery({ env, id }) {
    const located = await locateDelivery(env, id);
    if (!located) return undefined;
    await sendNow(env, operatorIn(located.accountId), located);
    return show(env, located);
  },

  countReplay: ({ env, caller, id, query }) => countReplayable(env, caller, id, query),
  replayWebhook: ({ env, caller, id, body }) => replay(env, caller, id, body),
};

async function receiverOf(env: Env, caller: Caller, id: string) {
  const [receiver] = await listReceivers(env, caller, id);
  return receiver;
}

type Located = NonNullable<Awaited<ReturnType<typeof locateDelivery>>>;

const show = (env: Env, { accountId, ...key }: Located) => findDelivery(env, operatorIn(accountId), key);
