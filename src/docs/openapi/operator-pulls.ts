import type { Operation } from './operation.ts';
import {
  connectionId,
  forOperators,
  inPath,
  invalidField,
  notJson,
  replyOf,
  unknownConnection,
} from './operator-parts.ts';

const noPull = { message: 'This connection does not pull from a provider' };
const isPaused = { message: 'This connection does not pull from a provider, or is paused' };

const action = (name: string, id: string, summary: string, message: string) => ({
  method: 'post' as const,
  path: `/operator/connections/{id}/${name}`,
  id,
  summary,
  parameters: [connectionId],
  reply: replyOf('Pull', message, `${id[0]?.toUpperCase()}${id.slice(1)}Reply`),
  refusals: [unknownConnection, isPaused],
});

/** Connections that pull from a provider. */
export const pulls = forOperators('Connections', [
  {
    method: 'get',
    path: '/operator/connections/{id}/pull',
    id: 'getPull',
    summary: 'See how a connection that pulls from its provider is doing',
    parameters: [connectionId],
    reply: replyOf('Pull', 'Pull'),
    refusals: [unknownConnection, noPull],
  },
  action('pull', 'pullNow', 'Pull now, whatever the connection waits for', 'Pull is due'),
  action('pause', 'pausePull', 'Stop pulling', 'Paused'),
  action('resume', 'resumePull', 'Pull again', 'Resumed'),
  {
    method: 'put',
    path: '/operator/connections/{id}/credential',
    id: 'replaceCredential',
    summary: 'Replace the credential, which is tried first',
    parameters: [connectionId],
    body: 'NewCredential',
    reply: replyOf('Pull', 'Credential replaced', 'ReplaceCredentialReply'),
    refusals: [unknownConnection, noPull, invalidField('credential', 'is required'), notJson],
  },
  {
    method: 'put',
    path: '/operator/connections/{id}/webhook-secret',
    id: 'setWebhookSecret',
    summary: "Save the secret of the provider's webhook",
    parameters: [connectionId],
    body: 'WebhookSecret',
    reply: replyOf('Pull', 'Webhook secret saved', 'WebhookSecretReply'),
    refusals: [
      unknownConnection,
      isPaused,
      invalidField('secret', 'must be one word of 8 to 500 characters'),
      notJson,
    ],
  },
]);

/** Where a provider's own webhook makes a pull due. */
export const ring: Operation = {
  method: 'post',
  path: '/providers/{connectionId}/webhook',
  id: 'ring',
  tag: 'Connections',
  summary: "Make a pull due, as the provider's webhook",
  description:
    'Its body is not read: the call counts if the provider has signed it with the secret that was saved.',
  parameters: [inPath('connectionId', "The connection's id.")],
  others: {
    401: { $ref: '#/components/responses/Unauthorized' },
    413: { $ref: '#/components/responses/TooLarge' },
  },
  reply: { name: 'RingReply', message: 'Pull is due', data: { type: 'null' }, example: null },
};
