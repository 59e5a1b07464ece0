import { operatorIn } from '../../core/accounts/accounts.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { invalid } from '../../core/platform/errors.ts';
import { setPaused, setReceiverLimits } from '../../core/webhooks/service.ts';
import { filtersOf } from '../filters/option.ts';
import type { Handlers } from '../handlers.ts';
import { operatorInOwner, owners } from '../owner-of.ts';
import { findDelivery, listDeliveries, locateDelivery } from './find.ts';
import { findDeliveries } from './find-deliveries.ts';
import type { operations } from './operations.ts';
import { listReceivers } from './receivers.ts';
import { countReplayable, replay, replayOne, sendNow } from './replay.ts';

export const handlers: Handlers<typeof operations> = {
  listWebhookHealth: async ({ env, caller }) => (await listReceivers(env, caller)).map(withFilters),

  limitReceiver: ({ body, ...asked }) =>
    receiverAfter(asked, ({ env, caller, id }) => setReceiverLimits(env, caller, id, body)),

  pauseWebhook: (asked) =>
    receiverAfter(asked, ({ env, caller, id }) => setPaused(env, caller, id, true)),

  resumeWebhook: (asked) =>
    receiverAfter(asked, ({ env, caller, id }) => setPaused(env, caller, id, false)),

  async listDeliveries({ env, query: { webhookId, status, since, before, limit } }) {
    const caller = await operatorInOwner(env, owners.webhooks, webhookId);
    const position = before === undefined ? undefined : [webhookId, before];
    return listDeliveries(env, caller, {
      webhookId,
      state: status,
      from: since,
      place: position,
      limit,
    });
  },

  async findDeliveries({ env, query: { eventId, vin, vehicleId } }) {
    if (eventId) return findDeliveries(env, { eventId });
    if (vehicleId) return findDeliveries(env, { vehicleId });
    if (vin) return findDeliveries(env, { vin });
    throw invalid('Give an eventId, a vin or a vehicleId');
  },

  getDelivery: withDelivery(showDelivery),

  replayDelivery: withDelivery(replayOne),

  sendDelivery: withDelivery(async (...delivery) => {
    await sendNow(...delivery);
    return showDelivery(...delivery);
  }),

  countReplay: ({ env, caller, id, query }) => countReplayable(env, caller, id, query),

  replayWebhook: ({ env, caller, id, body }) => replay(env, caller, id, body),
};

type Asked = { env: Env; caller: Caller; id: string };

async function receiverAfter(asked: Asked, action: (asked: Asked) => Promise<unknown>) {
  await action(asked);
  const [receiver] = await listReceivers(asked.env, asked.caller, asked.id);
  return receiver && withFilters(receiver);
}

const withFilters = ({
  options: { filters },
  ...receiver
}: Awaited<ReturnType<typeof listReceivers>>[number]) => ({ ...receiver, ...filtersOf(filters) });

type Located = NonNullable<Awaited<ReturnType<typeof locateDelivery>>>;

/** Does something with a delivery, of which operators need to know nothing but the id. */
function withDelivery<T>(work: (env: Env, caller: Caller, delivery: Located) => Promise<T>) {
  return async ({ env, id }: { env: Env; id: string }) => {
    const located = await locateDelivery(env, id);
    return located && work(env, operatorIn(located.accountId), located);
  };
}

async function showDelivery(...delivery: Parameters<typeof findDelivery>) {
  const found = await findDelivery(...delivery);
  return found && { ...found, url: found.webhook?.url ?? null };
}
