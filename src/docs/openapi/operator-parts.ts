import { type Json, ref } from './components.ts';
import { examples } from './examples.ts';
import type { Operation, Refused, Reply } from './operation.ts';

/* Parameters, replies and refusals that the operations of operators share. */

export const inPath = (name: string, description: string): Json => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});
export const query = (name: string, description: string, schema: Json, required = false): Json => ({
  name,
  in: 'query',
  ...(required && { required }),
  description,
  schema,
});

export const accountId = inPath('id', "The account's id.");
export const connectionId = inPath('id', "The connection's id.");
export const deliveryId = inPath('id', 'The Delivery-Id.');
export const webhookId = inPath('id', "The webhook's id.");

export const replyOf = (component: string, message: string, name = `${component}Reply`): Reply => ({
  name,
  message,
  data: ref(component),
  example: examples[component],
});
/** What asks for a part of a list. */
export const slice = [
  query('cursor', 'The `next` of the part before; without one, the list begins.', { type: 'string' }),
  query('limit', 'How many to return at most; more than 1,000 count as 1,000.', {
    type: 'integer',
    minimum: 1,
    default: 1000,
  }),
];
export const invalidCursor: Refused = { message: 'Invalid cursor' };
export const slicedReplyOf = (component: string, message: string): Reply => ({
  ...listReplyOf(component, message),
  paged: true,
});
export const listReplyOf = (component: string, message: string): Reply => ({
  name: `${component}List`,
  message,
  data: { type: 'array', items: ref(component) },
  example: [examples[component]],
});

export function invalidField(field: string, must: string): Refused {
  return { message: `${field} ${must}`, field, must };
}
export const notJson: Refused = { message: 'Request body is not valid JSON' };
export const noName = invalidField('name', 'is required');
export const unknownAccount: Refused = { message: 'Unknown account' };
export const unknownConnection: Refused = { message: 'Unknown connection' };
export const unknownWebhook: Refused = { message: 'Unknown webhook' };
export const noRole = invalidField('role', 'must be admin, member or viewer');
export const noEmail = invalidField('email', 'must be an email address');
export const noTime = invalidField('since', 'must be an RFC 3339 time, such as 2026-11-20T20:00:00Z');

export const emptySpan = invalidField('since', 'must be before until');

export const forOperators = (tag: string, operations: Omit<Operation, 'tag' | 'security'>[]): Operation[] =>
  operations.map((operation) => ({ ...operation, tag, security: 'OperatorKey' }));
