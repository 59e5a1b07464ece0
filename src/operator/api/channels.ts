import * as v from 'valibot';
import { urlProblems } from '../../webhooks/address.ts';
import { ChannelInput, channelKinds } from '../../webhooks/alerts/channel-input.ts';
import { Filters } from '../../webhooks/filters.ts';
import { id, type Operation, time } from './operation.ts';

/* Where accounts' teams are notified. */

/** Without levels it is not notified of accidents, and without a risk not of safety events. */
export const NewChannel = v.object({
  ...ChannelInput.entries,
  getsAlerts: v.optional(v.boolean('must be true or false'), true),
  ...v.pick(Filters, ['accidentLevels', 'minEventRisk', 'vehicleGroups']).entries,
});

/** Its URL is never shown. */
export const Channel = v.object({
  id,
  kind: v.picklist(channelKinds),
  name: v.string(),
  host: v.string(),
  lastFour: v.string(),
  getsAlerts: v.boolean(),
  problem: v.nullable(v.string()),
  problemAt: v.nullable(time),
});

const unknown = 'Unknown channel';

export const channelOperations = {
  listChannels: {
    call: 'GET /accounts/:id/channels',
    summary: "List an account's team channels",
    message: 'Channels',
    reply: v.array(Channel),
  },
  addChannel: {
    call: 'POST /accounts/:id/channels',
    summary: 'Add a team channel',
    body: NewChannel,
    message: 'Channel added',
    reply: Channel,
    refusals: [
      'Unknown account',
      'An account can have at most 10 channels',
      ...Object.values(urlProblems).map(({ message }) => message),
    ],
  },
  testChannel: {
    call: 'POST /channels/:id/test',
    summary: 'Send a test message to a team channel',
    description: 'Its `problem` then says why the message did not arrive, or is null if it did.',
    message: 'Channel tested',
    reply: Channel,
    refusals: [unknown],
  },
  removeChannel: {
    call: 'DELETE /channels/:id',
    summary: 'Remove a team channel and its queued messages',
    message: 'Channel removed',
    reply: Channel,
    refusals: [unknown],
  },
} satisfies Record<string, Operation>;
