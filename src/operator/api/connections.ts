import * as v from 'valibot';
import { IncidentTypeMap } from '../../core/fleet/incidents/map.ts';
import { archiveKinds } from '../../core/fleet/lists/registry.ts';
import { ExternalIdInput } from '../../core/fleet/lists/resource.ts';
import { AtMost, Name, TextLists } from '../../core/platform/fields.ts';
import { count, described, id, time } from '../../core/platform/replies.ts';
import { feedNames } from '../../extras/providers/connector.ts';
import type { Operation } from './operation.ts';

const Credential = v.pipe(v.string(), AtMost(4000));
const BaseUrl = v.pipe(v.string(), AtMost(500));

/** With a credential, the connection pulls from its provider, which must be built in. */
export const NewConnection = v.object({
  provider: v.pipe(
    v.string(),
    v.toLowerCase(),
    v.regex(/^[a-z0-9-]{1,40}$/, 'must be letters, digits and hyphens, at most 40'),
  ),
  name: v.optional(Name),
  tSP: v.optional(Name),
  incidentTypeMap: v.optional(IncidentTypeMap),
  credential: v.optional(Credential),
  baseUrl: v.optional(BaseUrl),
  historyDays: v.optional(v.number()),
});

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

export const ConnectionChange = v.object({
  name: v.optional(Name),
  tSP: v.optional(Name),
  healthStatus: v.optional(
    v.pipe(
      v.picklist([1, 2, 3, 4], 'must be 1 (healthy), 2 (warning), 3 (unavailable) or 4 (degraded)'),
      v.metadata({ type: 'integer' }),
    ),
  ),
  incidentTypeMap: v.optional(IncidentTypeMap),
  externalId: v.optional(ExternalIdInput.entries.externalId),
});

export const OperatorConnection = v.object({
  id,
  accountId: id,
  name: v.nullable(v.string()),
  provider: v.string(),
  tSP: v.string(),
  healthStatus: v.pipe(v.number(), v.metadata({ type: 'integer', enum: [1, 2, 3, 4] })),
  incidentTypeMap: v.nullable(
    v.pipe(
      TextLists,
      v.metadata({
        type: 'object',
        propertyNames: { type: 'string' },
        additionalProperties: { type: 'array', items: { type: 'string' } },
      }),
    ),
  ),
  lastPulledAt: described(v.nullable(time), 'To some five minutes; null if it has never pulled.'),
  externalId: v.nullable(v.string()),
  createdAt: time,
  updatedAt: time,
});

export const CreatedConnection = v.object({
  ...OperatorConnection.entries,
  warning: described(
    v.nullable(v.string()),
    'Whether nobody is notified of its accidents: no active webhook covers it, and no rule of a person or channel.',
  ),
});

export const VehicleChange = v.object(ExternalIdInput.entries);

export const OperatorVehicle = v.object({
  id,
  connectionId: id,
  name: v.string(),
  vin: v.nullable(v.string()),
  externalId: v.nullable(v.string()),
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

/** A day in the archive; `apply` repairs its catalog instead of only comparing. */
export const ArchiveRepair = v.object({
  kind: v.picklist(
    archiveKinds.map(({ name }) => name),
    `must be one of ${archiveKinds.map(({ name }) => name).join(', ')}`,
  ),
  date: v.pipe(
    v.string(),
    v.isoDate('must be a date, such as 2026-05-31'),
    v.metadata({ format: 'date' }),
  ),
  apply: v.optional(v.boolean(), false),
});

const files = v.object({ files: count, records: count });
export const ArchiveRepaired = v.object({ catalog: files, bucket: files, applied: v.boolean() });

export const connectionOperations = {
  listAccountConnections: {
    call: 'GET /accounts/:id/connections',
    summary: "List an account's connections",
    reply: v.array(OperatorConnection),
    part: 'slice',
  },
  createConnection: {
    call: 'POST /accounts/:id/connections',
    summary: 'Add a connection',
    body: NewConnection,
    reply: CreatedConnection,
  },
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
  changeConnection: {
    call: 'PATCH /connections/:id',
    summary: 'Change a connection',
    body: ConnectionChange,
    reply: OperatorConnection,
  },
  changeVehicle: {
    call: 'PATCH /vehicles/:id',
    summary: "Set an account's own identifier of a vehicle",
    body: VehicleChange,
    reply: OperatorVehicle,
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
  repairArchive: {
    call: 'POST /connections/:id/archive/repair',
    summary: 'Compare a day of the archive with its files, and repair its catalog',
    description:
      'Without `apply` nothing changes: `catalog` is what the day has now, and `bucket` what it would have. Put a ' +
      'missing file back first, if there is a copy.',
    body: ArchiveRepair,
    reply: ArchiveRepaired,
  },
} satisfies Record<string, Operation>;
