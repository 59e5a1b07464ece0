import * as v from 'valibot';
import { IncidentTypeMap } from '../../core/fleet/incidents/map.ts';
import { ExternalIdInput } from '../../core/fleet/lists/resource.ts';
import { Name, TextLists } from '../../core/platform/fields.ts';
import type { Operation } from '../../extras/operation.ts';
import { pulledConnection } from '../../extras/providers/operations.ts';
import { described, id, time } from '../../extras/replies.ts';

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
  ...pulledConnection,
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
  changeConnection: {
    call: 'PATCH /connections/:id',
    summary: 'Change a connection',
    body: ConnectionChange,
    reply: OperatorConnection,
  },
} satisfies Record<string, Operation>;
