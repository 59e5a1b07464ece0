import { config } from '../../platform/config.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { invalid } from '../../platform/errors.ts';
import { parseChannel } from '../../webhooks/alerts/channel-input.ts';
import {
  type Channel,
  findChannel,
  listChannels,
  removeChannel,
  saveChannel,
  testChannel,
} from '../../webhooks/alerts/channels.ts';
import type { channelOperations } from '../api/channels.ts';
import type { Handlers } from '../handler.ts';

/** Where accounts' teams are notified. */
export const channelHandlers: Handlers<typeof channelOperations> = {
  listChannels: ({ env, caller }) => listChannels(env, caller),

  async addChannel({ env, caller, body: { accidentLevels, minEventRisk, vehicleGroups, ...given } }) {
    const { origin, allowLoopbackReceivers: allowLoopback } = config(env);
    const ownHost = origin ? new URL(origin).hostname : '';
    const input = parseChannel(given, { isNew: true, ownHost, allowLoopback });
    const rule = { levels: accidentLevels ?? [], risk: minEventRisk ?? null, groups: vehicleGroups ?? null };
    return required(env, caller, await saveChannel(env, caller, input, rule));
  },

  async testChannel({ env, caller, id }) {
    await testChannel(env, caller, id);
    return required(env, caller, id);
  },

  async removeChannel({ env, caller, id }) {
    const channel = await required(env, caller, id);
    await removeChannel(env, caller, id);
    return channel;
  },
};

async function required(env: Env, caller: Caller, id: string): Promise<Channel> {
  const channel = await findChannel(env, caller, id);
  if (!channel) throw invalid('Unknown channel');
  return channel;
}
