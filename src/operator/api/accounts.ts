import * as v from 'valibot';
import { SomeConnections } from '../../core/accounts/tokens/connections.ts';
import { auditLog } from '../../core/platform/db/schema/accounts.ts';
import { Email, Line, Name, TimeOrDay } from '../../core/platform/fields.ts';
import { rateLimits, tokenLimiters } from '../../core/platform/rate-limits.ts';
import { roles } from '../../core/platform/roles.ts';
import { evidenceChange, evidenceOfAccount } from '../../extras/evidence/schema.ts';
import { type Operation, Uuid, wholeNumber } from '../../extras/operation.ts';
import { count, described, id, time } from '../../extras/replies.ts';

export const NewAccount = v.object({ name: Name });

const Quota = wholeNumber(0, 1e15);

const perMinute = tokenLimiters.map((limiter) => rateLimits[limiter].calls);
const RequestsPerMinute = v.picklist(perMinute, `must be one of ${perMinute.join(', ')}`);

/** A missing quota stays unchanged; null is the usual one. */
export const AccountChange = v.object({
  name: v.optional(Name),
  recordsPerDay: Quota,
  bytesPerDay: Quota,
  deliveriesPerDay: Quota,
  requestsPerMinute: v.optional(v.nullable(RequestsPerMinute)),
  ...evidenceChange,
  status: v.optional(v.picklist(['active', 'suspended'], 'must be active or suspended')),
});

export const Account = v.object({
  id,
  name: v.string(),
  status: v.picklist(['active', 'suspended', 'moving', 'moved']),
  createdAt: time,
  quotas: described(
    v.object({
      records: v.optional(count),
      bytes: v.optional(count),
      deliveries: v.optional(count),
      requestsPerMinute: v.optional(count),
    }),
    'What the account may add a day, and how many requests a minute each token may make, where that is not as usual.',
  ),
  ...evidenceOfAccount,
  held: described(
    v.boolean(),
    'Whether it may add no records now, because the database is nearly full.',
  ),
});

const { actor, action, subject } = auditLog;

/** An entry of the audit log, with names as they were then. */
export const AuditEntry = v.object({
  at: time,
  accountId: id,
  account: described(v.optional(v.nullable(v.string())), 'Its name, in the log of all accounts.'),
  actor: v.picklist(actor.enumValues),
  actorId: v.nullable(id),
  actorName: v.nullable(v.string()),
  action: v.picklist(action.enumValues),
  subject: v.picklist(subject.enumValues),
  subjectId: id,
  subjectName: v.nullable(v.string()),
  fields: described(
    v.array(v.string()),
    'The fields that were changed; of a person, `role: ` and the new role.',
  ),
});

export const NewToken = v.object({
  name: Name,
  expiresAt: v.optional(
    v.pipe(
      TimeOrDay,
      v.check((ms) => ms > Date.now(), 'must be in the future'),
    ),
  ),
});

export const NewApiToken = v.object({
  ...NewToken.entries,
  connectionIds: v.optional(SomeConnections),
  readOnly: v.optional(v.boolean('must be true or false')),
});

export const Token = v.object({
  id,
  connectionId: v.nullable(id),
  scope: v.picklist(['api', 'ingest']),
  readOnly: v.boolean(),
  connectionIds: described(
    v.nullable(v.array(id)),
    'The connections that an API token is limited to; null for all of the account.',
  ),
  name: v.string(),
  lastFour: v.string(),
  createdAt: time,
  expiresAt: v.nullable(time),
  lastUsedAt: described(v.nullable(time), 'To the hour.'),
  revokedAt: v.nullable(time),
});

export const IssuedToken = v.object({
  ...Token.entries,
  value: described(v.string(), 'The credential, which is shown only once.'),
});

export const NewUser = v.object({
  email: Email,
  role: v.optional(v.picklist(roles, 'must be admin, member or viewer'), 'admin'),
});

export const PortalUser = v.object({
  id,
  accountId: id,
  email: v.string(),
  role: v.picklist(roles),
  createdAt: time,
  lastSignInAt: v.nullable(time),
  pending: v.boolean(),
});

export const SignInLinkInput = v.object({ email: Email, accountId: v.optional(Uuid) });

export const LookInput = v.object({
  reason: described(
    v.pipe(Line(500), v.minLength(3, 'must say why')),
    'Why you look. The account reads it.',
  ),
});

export const Look = v.object({
  url: v.string(),
  expiresAt: time,
  admins: described(count, 'How many admins the account has, at most 20.'),
  emailed: described(count, 'How many of them were emailed that you look.'),
});

export const SignInLink = v.object({ url: v.string() });

export const accountOperations = {
  listAccounts: {
    call: 'GET /accounts',
    summary: 'List accounts',
    description: 'Oldest first, at most 1,000 at a time.',
    reply: v.array(Account),
    part: 'slice',
  },
  createAccount: {
    call: 'POST /accounts',
    summary: 'Create an account',
    body: NewAccount,
    reply: Account,
  },
  changeAccount: {
    call: 'PATCH /accounts/:id',
    summary: 'Rename, suspend or reactivate an account, or set its limits',
    body: AccountChange,
    reply: Account,
  },
} satisfies Record<string, Operation>;

export const tokenOperations = {
  listTokens: {
    call: 'GET /accounts/:id/tokens',
    summary: "List an account's API tokens and ingest keys",
    reply: v.array(Token),
    part: 'slice',
  },
  issueApiToken: {
    call: 'POST /accounts/:id/tokens',
    summary: 'Issue an API token',
    body: NewApiToken,
    reply: IssuedToken,
  },
  issueIngestKey: {
    call: 'POST /connections/:id/ingest-keys',
    summary: 'Issue an ingest key for a connection',
    body: NewToken,
    reply: IssuedToken,
  },
  revokeToken: {
    call: 'DELETE /tokens/:id',
    summary: 'Revoke an API token or ingest key immediately',
    reply: Token,
  },
} satisfies Record<string, Operation>;

export const userOperations = {
  listUsers: {
    call: 'GET /accounts/:id/users',
    summary: "List an account's users",
    reply: v.array(PortalUser),
    part: 'slice',
  },
  addUser: {
    call: 'POST /accounts/:id/users',
    summary: 'Add a user, who can then sign in',
    description:
      'The first user of an account becomes an admin, whatever `role` says. Somebody who is pending already gets the ' +
      'new role.',
    body: NewUser,
    reply: PortalUser,
  },
  removeUser: {
    call: 'DELETE /accounts/:id/users/:userId',
    summary: 'Remove a user and end their sessions',
    reply: PortalUser,
  },
  makeSignInLink: {
    call: 'POST /sign-in-links',
    summary: 'Create a link that signs a user in',
    description:
      'The account is needed only if several have invited the person, who has never signed in.',
    body: SignInLinkInput,
    reply: SignInLink,
  },
  look: {
    call: 'POST /accounts/:id/looks',
    summary: "Look at an account's portal for 30 minutes, without changing anything",
    description:
      'The link shows what a viewer sees. The audit log of the account has it, with the reason, and its admins get an ' +
      'email.',
    body: LookInput,
    reply: Look,
  },
} satisfies Record<string, Operation>;

export const auditOperations = {
  listAudit: {
    call: 'GET /audit',
    summary: 'List who created, changed or deleted what',
    description: 'Newest first, in all accounts. Entries are kept for a year.',
    reply: v.array(AuditEntry),
    part: 'slice',
  },
  listAccountAudit: {
    call: 'GET /accounts/:id/audit',
    summary: 'List who created, changed or deleted what in an account',
    description: 'Newest first. Entries are kept for a year.',
    reply: v.array(AuditEntry),
    part: 'slice',
  },
} satisfies Record<string, Operation>;
