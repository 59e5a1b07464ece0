import * as v from 'valibot';
import { Email } from '../accounts/people.ts';
import { isIncidentType } from '../fleet/incidents/types.ts';
import { limitUpTo, Name, Timestamp } from '../platform/fields.ts';
import { homeName } from '../platform/homes/homes.ts';
import { roles } from '../platform/roles.ts';
import { widestWindow } from '../webhooks/deliveries/policy.ts';
import { statuses } from '../webhooks/deliveries/queries.ts';
import { maxCallsPerSecond } from '../webhooks/limits.ts';

/** What the operator's routes take: bodies, and the query of deliveries. Replies are in `replies.ts`. */
export const NewAccount = v.object({
  name: Name,
  /** Where it is to live; without one in main. */
  home: v.optional(v.pipe(v.string(), v.regex(homeName, 'must be the name of a home'))),
});

/** What is left out stays as it is. */
export const AccountChange = v.object({
  name: v.optional(Name),
  status: v.optional(v.picklist(['active', 'suspended'], 'must be active or suspended')),
});

const isTypeMap = (input: unknown): input is Record<string, string[]> =>
  typeof input === 'object' &&
  input !== null &&
  Object.values(input).every(
    (types) => Array.isArray(types) && types.every((type) => typeof type === 'string'),
  );
const IncidentTypeMap = v.pipe(
  v.custom<Record<string, string[]>>(isTypeMap, "must map the provider's words to lists of types"),
  v.check(
    (map) => Object.values(map).flat().every(isIncidentType),
    'must map to normalised incident types only',
  ),
  v.metadata({ type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } }),
);

/** As people paste it: a token, or JSON. */
const Credential = v.pipe(v.string(), v.maxLength(4000, 'can be at most 4000 characters'));

const BaseUrl = v.pipe(v.string(), v.maxLength(500, 'can be at most 500 characters'));

export const NewConnection = v.object({
  provider: v.pipe(
    v.string(),
    v.toLowerCase(),
    v.regex(/^[a-z0-9-]{1,40}$/, 'must be letters, digits and hyphens, at most 40'),
  ),
  name: v.optional(Name),
  tSP: v.optional(Name),
  incidentTypeMap: v.optional(IncidentTypeMap),
  /** With a credential, the connection pulls from its provider, which must be built in. */
  credential: v.optional(Credential),
  baseUrl: v.optional(BaseUrl),
  historyDays: v.optional(v.number()),
});

/** With another address, it is tried and from then on called there. */
export const NewCredential = v.object({ credential: Credential, baseUrl: v.optional(BaseUrl) });
export const WebhookSecret = v.object({ secret: v.string() });

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
});

/** What is deleted has to be named, so that nobody deletes something else by a wrong id. */
export const AccountDeletion = v.object({ name: v.string(), now: v.optional(v.boolean(), false) });
export const ConnectionDeletion = v.object({ name: v.string() });

export const NewToken = v.object({
  name: Name,
  expiresAt: v.optional(
    v.pipe(
      Timestamp,
      v.check((ms) => ms > Date.now(), 'must be in the future'),
    ),
  ),
});

/** Without a role they become an admin, as does the first person of an account in any case. */
export const NewUser = v.object({
  email: Email,
  role: v.optional(v.picklist(roles, 'must be admin, member or viewer'), 'admin'),
});

/** The account is needed only for somebody whom several have invited and who has not signed in yet. */
export const SignInLinkInput = v.object({
  email: Email,
  accountId: v.optional(v.pipe(v.string(), v.uuid('must be a UUID'))),
});

const span = { since: v.optional(Timestamp), until: v.optional(Timestamp) };
const deliveryId = v.pipe(v.string(), v.uuid('must be a UUID'), v.toLowerCase());

export const ReplayRange = v.object({
  ...span,
  includeDelivered: v.optional(v.boolean()),
  after: v.optional(deliveryId),
});

export const ReplayQuery = v.object({
  ...span,
  includeDelivered: v.optional(
    v.pipe(
      v.picklist(['true', 'false'], 'must be true or false'),
      v.transform((text) => text === 'true'),
    ),
  ),
  after: v.optional(deliveryId),
});

const limitUpToCalls = (highest: number) => {
  const must = `must be a whole number from 1 to ${highest}`;
  const calls = v.pipe(v.number(must), v.integer(must), v.minValue(1, must), v.maxValue(highest, must));
  return v.optional(v.nullable(calls));
};

/** What is left out stays as it is; null takes a limit away. */
export const ReceiverLimits = v.object({
  maxInFlight: limitUpToCalls(widestWindow),
  maxPerSecond: limitUpToCalls(maxCallsPerSecond),
});

export const RecordsQuery = v.object({ kind: v.string() });

export const DeliveryQuery = v.object({
  webhookId: v.pipe(v.string(), v.uuid('must be a UUID')),
  status: v.optional(v.picklist(statuses, `must be one of ${statuses.join(', ')}`)),
  since: v.optional(Timestamp),
  before: v.optional(v.pipe(v.string(), v.uuid('must be a UUID'))),
  limit: v.optional(limitUpTo(500), '50'),
});
