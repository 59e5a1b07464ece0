import { and, eq, isNull, ne, notExists, sql } from 'drizzle-orm';
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
import { changePull, feedsDue, unlessWithdrawn } from './connected.ts';
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
  tSP?: string | undefined;
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
export async function connectIfPulled(
  env: Env,
  caller: Caller,
  { credential, ...input }: NewConnection & Partial<NewPull>,
): Promise<CoveredConnection | undefined> {
  if (credential !== undefined) return connectProvider(env, caller, { ...input, credential });
  for (const name of ['historyDays', 'baseUrl'] as const)
    if (input[name] !== undefined) throw invalidField('credential', `is required with ${name}`);
  return undefined;
}

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
      tSP: input.tSP ?? connector.name,
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
 * Replaces a connection's credential after trying it, and pulls at once: from where it was, or like a new connection for
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
  const isSame = eq(pulls.organisationId, tried.organisationId);
  await changePull(env, caller, id, {
    noted: 'credential',
    set: {
      secrets,
      credentialHash: tried.hash,
      session: null,
      feeds: sql`iif(${isSame}, ${feedsDue}, '{}')`,
      connectedAt: sql`iif(${isSame}, ${pulls.connectedAt}, ${now})`,
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
