import * as v from 'valibot';
import { Filters } from '../filters/filters.ts';
import type { Operation } from '../operation.ts';
import { Channel, ChannelInput } from './channel-input.ts';

/** Without levels it is not notified of accidents, and without a risk not of safety events. */
export const NewChannel = v.object({
  ...ChannelInput.entries,
  getsAlerts: v.optional(v.boolean('must be true or false'), true),
  ...v.pick(Filters, ['accidentLevels', 'minEventRisk', 'vehicleGroups']).entries,
});

export { Channel };

export const tag = ['Team channels', "Where accounts' teams are notified."] as const;

export const operations = {
  listChannels: {
    call: 'GET /accounts/:id/channels',
    summary: "List an account's team channels",
    reply: v.array(Channel),
  },
  addChannel: {
    call: 'POST /accounts/:id/channels',
    summary: 'Add a team channel',
    body: NewChannel,
    reply: Channel,
  },
  testChannel: {
    call: 'POST /channels/:id/test',
    summary: 'Send a test message to a team channel',
    description: 'Its `problem` then says why the message did not arrive, or is null if it did.',
    reply: Channel,
  },
  removeChannel: {
    call: 'DELETE /channels/:id',
    summary: 'Remove a team channel and its queued messages',
    reply: Channel,
  },
} satisfies Record<string, Operation>;
