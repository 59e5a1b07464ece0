import { config } from '../../core/platform/config.ts';
import type { Handlers } from '../handlers.ts';
import { parseChannel } from './channel-input.ts';
import { findChannel, listChannels, removeChannel, saveChannel, testChannel } from './channels.ts';
import type { operations } from './operations.ts';

export const handlers: Handlers<typeof operations, 'channels'> = {
  listChannels: ({ env, caller }) => listChannels(env, caller),

  async addChannel({
    env,
    caller,
    body: { accidentLevels, minEventRisk, vehicleGroups, ...given },
  }) {
    const { origin, allowLoopbackReceivers: allowLoopback } = config(env);
    const ownHost = origin ? new URL(origin).hostname : '';
    const input = parseChannel(given, { isNew: true, ownHost, allowLoopback });
    const rule = {
      levels: accidentLevels ?? [],
      risk: minEventRisk ?? null,
      groups: vehicleGroups ?? null,
    };
    return findChannel(env, caller, await saveChannel(env, caller, input, rule));
  },

  async testChannel({ env, caller, id }) {
    await testChannel(env, caller, id);
    return findChannel(env, caller, id);
  },

  async removeChannel({ env, caller, id }) {
    const channel = await findChannel(env, caller, id);
    if (channel) await removeChannel(env, caller, id);
    return channel;
  },
};
