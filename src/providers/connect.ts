import { type SQL, sql } from 'drizzle-orm';
import { audit } from '../accounts/audit/write.ts';
import { hashToken } from '../accounts/tokens/format.ts';
import { providerProblem } from '../platform/address.ts';
import { config } from '../platform/config.ts';
import { seal } from '../platform/crypto.ts';
import { type Database, refuseUnless, write } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { invalidField } from '../platform/errors.ts';
import { send } from '../platform/queue.ts';
import { type CoveredConnection, createConnection } from '../webhooks/coverage.ts';
import { pageMs } from './call.ts';
import { type Access, adviceFor, type Connector, Problem } from './connector.ts';
import { readCredential } from './credential.ts';
import { nameFrom } from './read.ts';
import { connectorOf, connectors } from './registry.ts';

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
    if (error instanceof Problem)
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

/** Connects a provider: tries its credential, and starts pulling. @throws Refusal: invalid */
export async function connectProvider(
  env: Env,
  caller: Caller,
  input: NewPull,
  alongside: (db: Database, id: string) => ReturnType<typeof refuseUnless>[] = () => [],
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
      write(db)`
        insert into pulls (connection_id, account_id, secrets, credential_hash, base_url, organisation, organisation_id,
          history_days, connected_at, due_at)
        values (${id}, ${caller.accountId}, ${JSON.stringify(secrets)}, ${tried.hash}, ${tried.baseUrl},
          ${tried.organisation}, ${tried.organisationId}, ${days}, ${now}, ${now})`,
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
    set: sql`secrets = ${JSON.stringify(secrets)}, credential_hash = ${tried.hash}, session = null,
      feeds = iif(organisation_id = ${tried.organisationId}, ${feedsDue}, '{}'), base_url = ${tried.baseUrl},
      organisation = ${tried.organisation}, organisation_id = ${tried.organisationId}, refused_at = null,
      claim = null, claimed_until = 0, due_at = iif(paused_at is null, ${now}, null)`,
    also: (db) => [unlessConnected(db, caller, tried.hash, id)],
  });
  await send(env.DELIVERIES, [{ pull: [id] }]);
  return tried;
}

/** The feeds as they are, and none waits: a person has mended the connection. */
const feedsDue = sql`(select json_group_object(key, json(json_remove(value, '$.problem', '$.pulledAt')))
  from json_each(feeds))`;

/** Pauses a connection; a write that has begun completes. @throws Refusal: invalid, if it does not pull */
export const pausePull = (env: Env, caller: Caller, id: string): Promise<void> =>
  changePull(env, caller, id, {
    noted: 'paused',
    set: sql`paused_at = coalesce(paused_at, ${Date.now()}), due_at = null, claim = null`,
  });

/** Resumes a connection where it stopped. @throws Refusal: invalid, as above */
export async function resumePull(env: Env, caller: Caller, id: string): Promise<void> {
  await changePull(env, caller, id, {
    noted: 'resumed',
    set: sql`paused_at = null, due_at = iif(refused_at is null, ${Date.now()}, null), claimed_until = 0,
      feeds = ${feedsDue}`,
  });
  await send(env.DELIVERIES, [{ pull: [id] }]);
}

/** Pulls all feeds now, also with a credential that was refused. @throws Refusal: invalid */
export async function pullNow(env: Env, caller: Caller, id: string): Promise<void> {
  await changePull(env, caller, id, {
    only: sql`paused_at is null`,
    set: sql`due_at = ${Date.now()}, refused_at = null, feeds = ${feedsDue}`,
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
  const sealed = JSON.stringify(await seal(env, id, { secret }));
  await changePull(env, caller, id, {
    noted: 'webhook secret',
    set: sql`webhook_secret = ${sealed}`,
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
    only = sql`true`,
    also = () => [],
  }: {
    set: SQL;
    noted?: string;
    only?: SQL;
    also?: (db: Database) => ReturnType<typeof refuseUnless>[];
  },
): Promise<void> {
  const own = sql`connection_id = ${id} and account_id = ${caller.accountId}`;
  await asCaller(env, caller, (db) => [
    refuseUnless(
      db,
      sql`exists (select 1 from pulls where ${own} and ${only})`,
      'This connection does not pull from a provider, or is paused',
    ),
    unlessWithdrawn(db, id),
    ...also(db),
    noted ? audit(db, caller, 'changed', 'connections', id, [noted]) : undefined,
    write(db)`update pulls set ${set} where ${own}`,
  ]);
}

/** SQL for whether the connection `id` was connected by a link whose consent was withdrawn. */
export const isWithdrawn = (id: SQL): SQL =>
  sql`exists (select 1 from connect_links where connection_id = ${id} and withdrawn_at is not null)`;

/** SQL for whether accidents of the connection `c` are expected: it is neither paused nor withdrawn. */
export const needsCover: SQL = sql`(not ${isWithdrawn(sql`c.id`)} and not exists (
  select 1 from pulls where connection_id = c.id and paused_at is not null))`;

/** The statement that refuses such a connection, so that the withdrawal holds. */
const unlessWithdrawn = (db: Database, id: string) =>
  refuseUnless(
    db,
    sql`not ${isWithdrawn(sql`${id}`)}`,
    'The consent to this connection was withdrawn. Create another connect link, or add the provider with a credential of your own.',
  );

const unlessConnected = (db: Database, { accountId }: Caller, hash: string, id: string) =>
  refuseUnless(
    db,
    sql`not exists (select 1 from pulls
      where account_id = ${accountId} and credential_hash = ${hash} and connection_id <> ${id})`,
    'This account has a connection with this credential already',
  );

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
