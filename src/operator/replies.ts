import * as v from 'valibot';
import type { Account } from '../accounts/accounts.ts';
import type { Entry } from '../accounts/audit/list.ts';
import { actions, subjects } from '../accounts/audit/note.ts';
import type { PortalUser } from '../accounts/people.ts';
import type { Token } from '../accounts/tokens/service.ts';
import type { Connection } from '../fleet/connections.ts';
import { timestamp, timestampOrNull } from '../platform/fields.ts';
import { roles } from '../platform/roles.ts';
import type { Deletion } from './deletion/state.ts';
import { stepNames } from './deletion/steps.ts';

/** What the operator's routes return: the schema of each thing, and how it is presented. */
const id = v.pipe(v.string(), v.uuid());
const time = v.pipe(v.string(), v.isoTimestamp());

export const AccountOutput = v.object({
  id,
  name: v.string(),
  status: v.picklist(['active', 'suspended']),
  home: v.string(),
  createdAt: time,
});
export type AccountOutput = v.InferOutput<typeof AccountOutput>;

export const presentAccount = ({ createdAt, ...account }: Account): AccountOutput => ({
  ...account,
  createdAt: timestamp(createdAt),
});

export const AuditEntry = v.object({
  at: time,
  accountId: id,
  actor: v.picklist(['operator', 'person', 'token', 'service']),
  actorId: v.nullable(id),
  actorName: v.nullable(v.string()),
  action: v.picklist(actions),
  subject: v.picklist(subjects),
  subjectId: id,
  subjectName: v.nullable(v.string()),
  /** What was changed, by name. */
  fields: v.array(v.string()),
});
export type AuditEntry = v.InferOutput<typeof AuditEntry>;

export const presentAuditEntry = ({ at, seq: _, ...entry }: Entry): AuditEntry => ({
  at: timestamp(at),
  ...entry,
});

/** A deletion, or an erasure. */
export const DeletionOutput = v.object({
  id,
  kind: v.picklist(['account', 'connection', 'driver']),
  accountId: id,
  requestedAt: time,
  /** When it begins. Until then it can be cancelled. */
  dueAt: time,
  /** Null until it has begun, and once it is done. */
  step: v.nullable(v.string()),
  /** How many steps are done, and how many there are. */
  stepsDone: v.pipe(v.number(), v.integer()),
  steps: v.pipe(v.number(), v.integer()),
});
export type DeletionOutput = v.InferOutput<typeof DeletionOutput>;

export const presentDeletion = ({
  id,
  kind,
  accountId,
  requestedAt,
  dueAt,
  step,
}: Deletion): DeletionOutput => ({
  id,
  kind,
  accountId,
  requestedAt: timestamp(requestedAt),
  dueAt: timestamp(dueAt),
  step,
  stepsDone: step === null ? 0 : stepNames(kind).indexOf(step),
  steps: stepNames(kind).length,
});

/** How a deletion stands; null once nothing is left to do. */
export const DeletionProgress = v.object({ deletion: v.nullable(DeletionOutput) });

export const presentProgress = (deletion: Deletion | undefined): v.InferOutput<typeof DeletionProgress> => ({
  deletion: deletion ? presentDeletion(deletion) : null,
});

export const ConnectionOutput = v.object({
  id,
  accountId: id,
  name: v.nullable(v.string()),
  provider: v.string(),
  tSP: v.string(),
  healthStatus: v.pipe(v.number(), v.integer(), v.values([1, 2, 3, 4])),
  incidentTypeMap: v.nullable(v.record(v.string(), v.array(v.string()))),
  lastPulledAt: v.nullable(time),
  createdAt: time,
  updatedAt: time,
});
export type ConnectionOutput = v.InferOutput<typeof ConnectionOutput>;

export const presentConnection = ({
  tsp,
  lastPulledAt,
  silentSince: _,
  createdAt,
  updatedAt,
  ...connection
}: Connection): ConnectionOutput => ({
  ...connection,
  tSP: tsp,
  lastPulledAt: timestampOrNull(lastPulledAt),
  createdAt: timestamp(createdAt),
  updatedAt: timestamp(updatedAt),
});

export const TokenOutput = v.object({
  id,
  connectionId: v.nullable(id),
  scope: v.picklist(['api', 'ingest']),
  name: v.string(),
  lastFour: v.string(),
  createdAt: time,
  expiresAt: v.nullable(time),
  lastUsedAt: v.nullable(time),
  revokedAt: v.nullable(time),
});
export type TokenOutput = v.InferOutput<typeof TokenOutput>;

export const presentToken = ({
  createdAt,
  expiresAt,
  lastUsedAt,
  revokedAt,
  ...token
}: Token): TokenOutput => ({
  ...token,
  createdAt: timestamp(createdAt),
  expiresAt: timestampOrNull(expiresAt),
  lastUsedAt: timestampOrNull(lastUsedAt),
  revokedAt: timestampOrNull(revokedAt),
});

export const IssuedToken = v.object({ ...TokenOutput.entries, value: v.string() });

export const UserOutput = v.object({
  id,
  accountId: id,
  email: v.string(),
  /** What they may do: an admin everything, a member everything but people and tokens, a viewer only read. */
  role: v.picklist(roles),
  createdAt: time,
  lastSignInAt: v.nullable(time),
  /** Invited, and yet to sign in for the first time. */
  pending: v.boolean(),
});
export type UserOutput = v.InferOutput<typeof UserOutput>;

export const presentUser = ({
  createdAt,
  lastSignInAt,
  confirmedAt,
  getsAlerts: _,
  timeZone: __,
  ...user
}: PortalUser): UserOutput => ({
  ...user,
  pending: confirmedAt === null,
  createdAt: timestamp(createdAt),
  lastSignInAt: timestampOrNull(lastSignInAt),
});

export const SignInLink = v.object({ url: v.string() });
