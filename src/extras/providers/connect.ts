import {
  and,
  eq,
  exists,
  isNull,
  ne,
  not,
  notExists,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm';
import type { SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core';
import { audit } from '../../core/accounts/audit/write.ts';
import { hashToken } from '../../core/accounts/tokens/format.ts';
import type { NewConnection } from '../../core/fleet/connections.ts';
import { config } from '../../core/platform/config.ts';
import { seal } from '../../core/platform/crypto.ts';
import { type Database, refuseUnless, type Statement } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { invalidField } from '../../core/platform/errors.ts';
import { send } from '../../core/platform/queue.ts';
import { type CoveredConnection, createConnection } from '../alerts/coverage.ts';
import { providerProblem } from './address.ts';
import { pageMs } from './connector/call.ts';
import { type Access, adviceFor, type Connector, ProviderError } from './connector/connector.ts';
import { readCredential } from './connector/credential.ts';
import { nameFrom } from './connector/read.ts';
import { connectorOf, connectors } from './registry.ts';
import { pulls } from './tables.ts';

export const usualHistoryDays = 90;

/** What people enter to connect a provider. `baseUrl` may be the name of a region. */
export type NewPull = {
  provider: string;
  credential: string;
  name?: string | undefined;
  baseUrl?: string | undefined;
  historyDays?: number | undefined;
  incidentTypeMap?: Record<string, string[]> | undefined;
};

/** A credential that the provider has accepted, and the name of its organisation. */
type Tried = {
  connector: Connector;
  credential: string;
  /** Equal for the same credential of the same provider, so that an account connects it once. */
  hash: string;
  baseUrl: string;
  organisation: string;
  /** Equal for two credentials of the same organisation. */
  organisationId: string;
};

/**
 * Tries a credential at the provider, saving nothing. Only operators may name a server that is not
 * the provider's own, unless it `isStored`.
 * @throws Refusal: invalid, naming the field, with the provider's message
 */
async function tryCredential(
  env: Env,
  caller: Caller,
  {
    provider,
    credential: text,
    baseUrl: given,
  }: Pick<NewPull, 'provider' | 'credential' | 'baseUrl'>,
  isStored = false,
): Promise<Tried> {
  const connector = connectorOf(provider);
  if (!connector)
    throw invalidField('provider', `must be ${connectors.map((one) => one.provider).join(', ')}`);
  const isOperator = 'operator' in caller;
  const baseUrl = baseUrlOf(env, connector, given, isOperator || isStored);
  try {
    const { credential, identity } = readCredential(connector, text, isOperator);
    const api = connector.open(accessTo(env, connector, { credential, baseUrl }));
    const { name, id } = await connector.check(api);
    const organisation = nameFrom(name) || connector.name;
    const hash = await hashToken(`${provider} ${baseUrl} ${identity}`);
    return {
      connector,
      credential,
      hash,
      baseUrl,
      organisation,
      organisationId: id ?? organisation,
    };
  } catch (error) {
    if (error instanceof ProviderError)
      throw invalidField('credential', adviceFor(connector, error, false));
    throw error;
  }
}

/** How to call a provider with a credential, for one page and, by default, without a session. */
export const accessTo = (
  env: Env,
  { wanted }: Connector,
  given: Pick<Access, 'credential' | 'baseUrl'> & Partial<Access>,
): Access => ({
  wanted,
  until: Date.now() + pageMs,
  tooLarge: [],
  session: null,
  keepSession() {},
  mayCall: (url) => mayCall(env, url),
  ...given,
});

/** Connects a provider if there is a credential; otherwise its records come from a connector. @throws Refusal: invalid */
export const connectIfPulled = async (
  env: Env,
  caller: Caller,
  { credential, ...input }: NewConnection & Partial<NewPull>,
): Promise<CoveredConnection | undefined> =>
  credential === undefined ? undefined : connectProvider(env, caller, { ...input, credential });

/** Connects a provider: tries its credential, and starts pulling. @throws Refusal: invalid */
export async function connectProvider(
  env: Env,
  caller: Caller,
  input: NewPull,
  alongside: (db: Database, id: string) => Statement[] = () => [],
): Promise<CoveredConnection> {
  const tried = await tryCredential(env, caller, input);
  const { connector } = tried;
  const days = input.historyDays ?? usualHistoryDays;
  if (!Number.isInteger(days) || days < 0 || days > connector.maxHistoryDays)
    throw invalidField(
      'historyDays',
      `must be a whole number from 0 to ${connector.maxHistoryDays}`,
    );
  const id = newId();
  const secrets = await seal(env, id, { credential: tried.credential });
  const now = Date.now();
  const connection = await createConnection(
    env,
    caller,
    {
      ...input,
      provider: connector.provider,
      tSP: connector.name,
      name: input.name ?? tried.organisation,
      id,
    },
    (db) => [
      ...alongside(db, id),
      unlessConnected(db, caller, tried.hash, id),
      db.insert(pulls).values({
        connectionId: id,
        accountId: caller.accountId,
        secrets,
        credentialHash: tried.hash,
        baseUrl: tried.baseUrl,
        organisation: tried.organisation,
        organisationId: tried.organisationId,
        historyDays: days,
        connectedAt: now,
        dueAt: now,
      }),
    ],
  );
  await send(env.DELIVERIES, [{ pull: [id] }]);
  return connection;
}

/**
 * Replaces a connection's credential after trying it, and pulls at once: from where it was, or from the beginning for
 * another organisation, whose cursors differ.
 * @throws Refusal: invalid, as for `tryCredential`, when the connection does not pull, or consent was withdrawn
 */
export async function replaceCredential(
  env: Env,
  caller: Caller,
  { id, provider, baseUrl }: { id: string; provider: string; baseUrl: string },
  text: string,
): Promise<Tried> {
  await asCaller(env, caller, (db) => [unlessWithdrawn(db, id)]); // before a provider sees it
  const tried = await tryCredential(env, caller, { provider, baseUrl, credential: text }, true);
  const secrets = await seal(env, id, { credential: tried.credential });
  const now = Date.now();
  await changePull(env, caller, id, {
    noted: 'credential',
    set: {
      secrets,
      credentialHash: tried.hash,
      session: null,
      feeds: sql`iif(${eq(pulls.organisationId, tried.organisationId)}, ${feedsDue}, '{}')`,
      baseUrl: tried.baseUrl,
      organisation: tried.organisation,
      organisationId: tried.organisationId,
      refusedAt: null,
      claim: null,
      claimedUntil: 0,
      dueAt: sql`iif(${isNull(pulls.pausedAt)}, ${now}, null)`,
    },
    also: (db) => [unlessConnected(db, caller, tried.hash, id)],
  });
  await send(env.DELIVERIES, [{ pull: [id] }]);
  return tried;
}

/** The feeds as they are, and none waits: a person has mended the connection. */
const feedsDue = sql`(select json_group_object(key, json(json_remove(value, '$.problem', '$.pulledAt')))
  from json_each(${pulls.feeds}))`;

/** Pauses a connection; a write that has begun completes. @throws Refusal: invalid, if it does not pull */
export const pausePull = (env: Env, caller: Caller, id: string): Promise<void> =>
  changePull(env, caller, id, {
    noted: 'paused',
    set: {
      pausedAt: sql`coalesce(${pulls.pausedAt}, ${Date.now()})`,
      dueAt: null,
      claim: null,
    },
  });

/** Resumes a connection where it stopped. @throws Refusal: invalid, as above */
export async function resumePull(env: Env, caller: Caller, id: string): Promise<void> {
  await changePull(env, caller, id, {
    noted: 'resumed',
    set: {
      pausedAt: null,
      dueAt: sql`iif(${isNull(pulls.refusedAt)}, ${Date.now()}, null)`,
      claimedUntil: 0,
      feeds: feedsDue,
    },
  });
  await send(env.DELIVERIES, [{ pull: [id] }]);
}

/** Pulls all feeds now, also with a credential that was refused. @throws Refusal: invalid */
export async function pullNow(env: Env, caller: Caller, id: string): Promise<void> {
  await changePull(env, caller, id, {
    only: isNull(pulls.pausedAt),
    set: { dueAt: Date.now(), refusedAt: null, feeds: feedsDue },
  });
  await send(env.DELIVERIES, [{ pull: [id] }]);
}

/** Stores the secret with which the provider signs its webhook's calls. @throws Refusal: invalid */
export async function setWebhookSecret(
  env: Env,
  caller: Caller,
  id: string,
  text: string,
): Promise<void> {
  const secret = text.trim();
  if (!/^[\x21-\x7e]{8,500}$/.test(secret))
    throw invalidField('secret', 'must be one word of 8 to 500 characters');
  const webhookSecret = await seal(env, id, { secret });
  await changePull(env, caller, id, {
    noted: 'webhook secret',
    set: { webhookSecret },
  });
}

/** Changes a pull that passes `only` and has consent, and audits that. `also` may refuse it before. */
export async function changePull(
  env: Env,
  caller: Caller,
  id: string,
  {
    set,
    noted,
    only,
    also = () => [],
  }: {
    set: SQLiteUpdateSetSource<typeof pulls>;
    noted?: string;
    only?: SQL;
    also?: (db: Database) => Statement[];
  },
): Promise<void> {
  const own = and(eq(pulls.connectionId, id), eq(pulls.accountId, caller.accountId));
  await asCaller(env, caller, (db) => [
    refuseUnless(
      db,
      exists(db.select({ id: pulls.connectionId }).from(pulls).where(and(own, only))),
      'This connection does not pull from a provider, or is paused',
    ),
    unlessWithdrawn(db, id),
    ...also(db),
    noted ? audit(db, caller, 'changed', 'connections', id, [noted]) : undefined,
    db.update(pulls).set(set).where(own),
  ]);
}

/** SQL for whether the connection `id` was connected by a link whose consent was withdrawn. */
export const isWithdrawn = (id: SQLWrapper): SQL =>
  sql`exists (select 1 from connect_links where connection_id = ${id} and withdrawn_at is not null)`;

/** What the portal knows of the connection `id`. */
export const connectionSql = {
  isEnded: isWithdrawn,
  isRefused: (id: SQLWrapper): SQL =>
    sql`exists (select 1 from pulls where connection_id = ${id} and refused_at is not null)`,
  version: (id: SQLWrapper): SQL =>
    sql`(select json_array(paused_at, refused_at) from pulls where connection_id = ${id})`,
};

/** SQL for whether accidents of the connection `c` are expected: it is neither paused nor withdrawn. */
export const needsCover: SQL = sql`(not ${isWithdrawn(sql`c.id`)} and not exists (
  select 1 from pulls where connection_id = c.id and paused_at is not null))`;

/** The statement that refuses such a connection, so that the withdrawal holds. */
const unlessWithdrawn = (db: Database, id: string) =>
  refuseUnless(
    db,
    not(isWithdrawn(sql`${id}`)),
    'The consent to this connection was withdrawn. Create another connect link, or add the provider with a credential of your own.',
  );

function unlessConnected(db: Database, { accountId }: Caller, hash: string, id: string) {
  const others = db
    .select({ id: pulls.connectionId })
    .from(pulls)
    .where(
      and(
        eq(pulls.accountId, accountId),
        eq(pulls.credentialHash, hash),
        ne(pulls.connectionId, id),
      ),
    );
  return refuseUnless(
    db,
    notExists(others),
    'This account has a connection with this credential already',
  );
}

const mayCall = (env: Env, url: string): boolean =>
  providerProblem(url, { allowLoopback: config(env).allowLoopbackReceivers }) === undefined;

/** The address of the provider's API: the usual one, that of a region, or `anyUrl` that may be called. */
function baseUrlOf(
  env: Env,
  connector: Connector,
  given: string | undefined,
  anyUrl: boolean,
): string {
  if (!given) return connector.baseUrl;
  const regions = Object.keys(connector.regions);
  if (regions.includes(given)) return connector.regions[given] ?? connector.baseUrl;
  if (!anyUrl) throw invalidField('baseUrl', `must be ${regions.join(' or ') || 'left out'}`);
  if (!URL.canParse(given))
    throw invalidField('baseUrl', `must be ${['an https URL', ...regions].join(' or ')}`);
  if (!mayCall(env, given))
    throw invalidField('baseUrl', 'must be an https URL of a public host, without credentials');
  const { origin, pathname } = new URL(given);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
