import { webhookIsPaused } from '../../webhooks/deliveries/policy.ts';
import { maxReplayedPerCall } from '../../webhooks/deliveries/replay.ts';
import { ReplayInput } from '../../webhooks/deliveries/schema.ts';
import { TestInput } from '../../webhooks/schema.ts';
import { ref } from './components.ts';
import { examples } from './examples.ts';
import { parameterRef, rangeRefusals, refused } from './lists.ts';
import type { Operation, Refused } from './operation.ts';

const addition = 'Our addition to the specification.';
const invalidId: Refused = { message: 'Invalid webhook id' };
const notJson: Refused = { message: 'Request body is not valid JSON' };

const { after, dryRun, includeDelivered } = ReplayInput.entries;
const { type, level } = TestInput.entries;

const action = (name: string): Pick<Operation, 'method' | 'path' | 'tag' | 'security' | 'parameters'> => ({
  method: 'post',
  path: `/webhook/{id}/${name}`,
  tag: 'Webhooks',
  security: 'ApiToken',
  parameters: [parameterRef('WebhookId')],
});

const webhookReply = (message: string, example = {}) => ({
  name: 'WebhookReply',
  message,
  data: ref('Webhook'),
  example: { ...(examples.Webhook as object), ...example }, // the component's example
});

/** What clients can do with a webhook besides changing it. */
export const webhookActions: Operation[] = [
  {
    ...action('replay'),
    id: 'replayWebhook',
    summary: 'Replay what a webhook has missed',
    description:
      `Sends again what failed or was cancelled, up to ${maxReplayedPerCall.toLocaleString('en')} deliveries per call, each under its Delivery-Id; ` +
      'with `includeDelivered`, also what was delivered. While there is `more`, call again with `next` as `after`. ' +
      `Pending deliveries are left alone, so a repeated call sends nothing twice unless it includes what was delivered. ${addition}`,
    body: 'ReplayInput',
    reply: {
      name: 'ReplayReply',
      message: 'Replayed',
      data: ref('ReplayOutcome'),
    },
    refusals: [
      invalidId,
      ...rangeRefusals(false).slice(1),
      refused('after', after, '?'),
      refused('includeDelivered', includeDelivered, '?'),
      refused('dryRun', dryRun, '?'),
      notJson,
    ],
  },
  {
    ...action('test'),
    id: 'testWebhook',
    summary: 'Send a test',
    description:
      'Sends a made-up event, a level of a made-up accident, or all three levels, three seconds apart, to this webhook ' +
      `alone, marked \`TEST\` and whatever its filters. ${addition}`,
    body: 'TestInput',
    reply: { name: 'TestReply', message: 'Test sent', data: ref('TestSent') },
    refusals: [
      invalidId,
      refused('type', type, '?'),
      refused('level', level, '?'),
      { message: 'level is for accidents alone', field: 'level', must: 'is for accidents alone' },
      { message: 'This webhook has no connections, so nothing is sent to it' },
      { message: 'This webhook does not subscribe to that type of notification' },
      { message: webhookIsPaused },
      notJson,
    ],
  },
  {
    ...action('pause'),
    id: 'pauseWebhook',
    summary: 'Pause a webhook',
    description:
      'Nothing is sent to it until it is resumed: once this returns, which may take five seconds, no more calls begin. ' +
      `Deliveries wait, and fail after five days. A paused webhook stays as it is. ${addition}`,
    reply: webhookReply('Webhook paused', { pausedAt: '2026-11-20T20:30:00.000Z' }),
    refusals: [invalidId],
  },
  {
    ...action('resume'),
    id: 'resumeWebhook',
    summary: 'Resume a webhook',
    description: `Pending deliveries are sent, accidents first. A webhook that is not paused stays as it is. ${addition}`,
    reply: webhookReply('Webhook resumed'),
    refusals: [invalidId],
  },
];
