import * as v from 'valibot';
import { AtMost, Name } from '../../core/platform/fields.ts';
import type { Operation } from '../operation.ts';
import { count, described, id, time } from '../replies.ts';
import { feedNames } from './connector/connector.ts';

const Credential = v.pipe(v.string(), AtMost(4000));
const BaseUrl = v.pipe(v.string(), AtMost(500));

/** What a new connection needs to be pulled. */
export const pulledConnection = {
  credential: v.optional(Credential),
  baseUrl: v.optional(BaseUrl),
  historyDays: v.optional(v.number()),
};

export const NewConnectLink = v.object({ name: Name });

/** The URL is returned only once. */
export const ConnectLink = v.object({ id, url: v.string(), expiresAt: time });

export const ListedConnectLink = v.object({
  id,
  name: v.string(),
  createdAt: time,
  expiresAt: time,
  connectionId: v.nullable(id),
  withdrawnAt: v.nullable(time),
});

/** With `baseUrl`, that address is tried and then used. */
export const NewCredential = v.object({ credential: Credential, baseUrl: v.optional(BaseUrl) });

export const WebhookSecret = v.object({ secret: v.string() });

const RecordProblem = v.object({
  kind: v.string(),
  sourceId: v.string(),
  reason: v.string(),
  at: time,
});

export const Pull = v.object({
  provider: v.string(),
  organisation: v.string(),
  baseUrl: v.string(),
  state: v.picklist(['pulling', 'paused', 'refused']),
  isWithdrawn: described(
    v.boolean(),
    'Whether consent was withdrawn: nothing is pulled, whatever the state.',
  ),
  hasWebhookSecret: v.boolean(),
  lastPulledAt: v.nullable(time),
  historyDays: count,
  feeds: v.array(
    v.object({
      feed: v.picklist(feedNames),
      everyMinutes: count,
      problem: v.nullable(
        v.object({ advice: v.string(), since: time, nextAt: time, isFailing: v.boolean() }),
      ),
      history: v.nullable(
        v.object({
          share: v.number(),
          records: count,
          recordsPerMinute: v.nullable(count),
          endsAt: v.nullable(time),
        }),
      ),
    }),
  ),
  refusals: described(
    v.array(RecordProblem),
    'The last 100 records that were refused, the latest first.',
  ),
  warnings: described(
    v.array(RecordProblem),
    'The last 100 records that were accepted without what could not be used, the latest first.',
  ),
  unmapped: described(
    v.array(v.object({ word: v.string(), count })),
    'Unmapped incident labels of its last 1,000 events.',
  ),
});
export type Pull = v.InferOutput<typeof Pull>;

export const tag = ['Connections'] as const;

export const operations = {
  createConnectLink: {
    call: 'POST /accounts/:id/connect-links',
    summary: 'Create a link by which somebody outside the account connects a provider',
    body: NewConnectLink,
    reply: ConnectLink,
  },
  listConnectLinks: {
    call: 'GET /accounts/:id/connect-links',
    summary: "List an account's used and valid connect links",
    description: 'Unused ones first, then the newest; at most 100.',
    reply: v.array(ListedConnectLink),
  },
  revokeConnectLink: {
    call: 'DELETE /connect-links/:id',
    summary: 'Revoke a connect link that is not used yet',
    reply: ListedConnectLink,
  },
  getPull: {
    call: 'GET /connections/:id/pull',
    summary: 'Show the state of a connection that pulls from its provider',
    reply: Pull,
  },
  pullNow: {
    call: 'POST /connections/:id/pull',
    summary: 'Pull now, ignoring any wait',
    reply: Pull,
  },
  pausePull: {
    call: 'POST /connections/:id/pause',
    summary: 'Stop pulling',
    reply: Pull,
  },
  resumePull: {
    call: 'POST /connections/:id/resume',
    summary: 'Pull again',
    reply: Pull,
  },
  replaceCredential: {
    call: 'PUT /connections/:id/credential',
    summary: 'Replace the credential, which is tried first',
    body: NewCredential,
    reply: Pull,
  },
  setWebhookSecret: {
    call: 'PUT /connections/:id/webhook-secret',
    summary: "Save the secret of the provider's webhook",
    body: WebhookSecret,
    reply: Pull,
  },
} satisfies Record<string, Operation>;
