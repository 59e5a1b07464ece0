import { and, eq, gt, lt, ne, type SQL, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { audit } from '../accounts/audit/write.ts';
import { storeInKv } from '../accounts/tokens/known.ts';
import { selectKeys } from '../accounts/tokens/service.ts';
import { following, type Slice, type SliceQuery, sliceOf } from '../platform/db/cursor.ts';
import { type Database, refuseUnless, unlessTaken } from '../platform/db/database.ts';
import { asCaller, type Caller, isWithin } from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { connections } from '../platform/db/schema/accounts.ts';
import type { HealthStatus } from '../platform/db/schema/types.ts';
import { invalid, invalidField } from '../platform/errors.ts';
import { capital } from '../platform/text.ts';
import { IncidentTypeMap } from './incidents/map.ts';
import { recordChange } from './record-changes.ts';

export type Connection = typeof connections.$inferSelect;

export const maxConnectionsListed = 1000;

/** The account's first connections, at most 1,000, by name. */
export const listConnections = async (env: Env, caller: Caller): Promise<Connection[]> =>
  (await sliceConnections(env, caller, { limit: maxConnectionsListed })).items.sort(byName);

/** A slice of the account's connections, oldest first. */
export async function sliceConnections(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Slice<Connection>> {
  const which = and(
    eq(connections.accountId, caller.accountId),
    isWithin(caller, connections.id),
    following(connections, slice),
  );
  const rows = await asCaller(env, caller, (db) =>
    db
      .select()
      .from(connections)
      .where(which)
      .orderBy(connections.createdAt, connections.id)
      .limit(slice.limit + 1),
  );
  return sliceOf(rows, slice);
}

export const findConnection = async (
  env: Env,
  caller: Caller,
  id: string,
): Promise<Connection | undefined> =>
  (await asCaller(env, caller, (db) => selectConnection(db, caller, id)))[0];

/** The statement that reads one of the account's connections. */
const selectConnection = (db: Database, caller: Caller, id: string) =>
  db.select().from(connections).where(isOwn(caller, id));

const isOwn = ({ accountId }: Pick<Caller, 'accountId'>, id: string) =>
  and(eq(connections.id, id), eq(connections.accountId, accountId));

/** A new connection. `tSP` is the provider's name in deliveries, by default the provider as people write it. */
export type NewConnection = {
  id?: string;
  provider: string;
  name?: string | undefined;
  tSP?: string | undefined;
  incidentTypeMap?: Record<string, string[]> | undefined;
};

/** A connection as it begins. */
export function newConnection({ accountId }: Caller, input: NewConnection): Connection {
  const now = Date.now();
  return {
    id: input.id ?? newId(),
    accountId,
    name: input.name ?? null,
    provider: input.provider,
    tsp: input.tSP ?? providerName(input.provider),
    healthStatus: 1,
    incidentTypeMap: input.incidentTypeMap ?? null,
    createdAt: now,
    updatedAt: now,
    lastPulledAt: null,
    silentSince: null,
    heldBack: 0,
    heldBackAt: null,
    externalId: null,
    notifiesNobody: false,
  };
}

/** The statements that add it, unless the account does not exist or has 1,000 connections. */
export function addConnection(db: Database, caller: Caller, connection: Connection) {
  const most = maxConnectionsListed;
  const known = db
    .select({ id: connections.id })
    .from(connections)
    .where(eq(connections.accountId, caller.accountId))
    .limit(most)
    .as('known');
  return [
    refuseUnless(db, lt(db.$count(known), most), `An account can have at most ${most} connections`),
    db.insert(connections).values(connection),
    recordConnection(db, connection),
    audit(db, caller, 'created', 'connections', connection.id),
  ] as const;
}

type Changeable =
  | 'name'
  | 'tsp'
  | 'healthStatus'
  | 'incidentTypeMap'
  | 'externalId'
  | 'notifiesNobody';

/** Changes a connection, and its ingest keys in KV: a new map applies soon. @throws Refusal: invalid */
export async function updateConnection(
  env: Env,
  caller: Caller,
  id: string,
  changes: { [field in Changeable]?: Connection[field] | SQL | undefined },
): Promise<Connection> {
  const { accountId } = caller;
  const updatedAt = Date.now();
  const fields = Object.keys(changes).map((key) => (key === 'tsp' ? 'tSP' : key));
  const { changed, keys = [] } = await savingExternalId('connection', () =>
    asCaller(env, caller, (db) => ({
      changed: db
        .update(connections)
        .set({ ...changes, updatedAt })
        .where(isOwn(caller, id))
        .returning(),
      known: refuseUnless(db, sql`changes() > 0`, 'Unknown connection'),
      record: recordConnection(db, { id, accountId, updatedAt }),
      audit: audit(db, caller, 'changed', 'connections', id, fields),
      keys: 'tsp' in changes || 'incidentTypeMap' in changes ? selectKeys(db, id) : undefined,
    })),
  );
  await Promise.all(keys.map(({ hash }) => storeInKv(env, hash)));
  return changed[0] as Connection; // it is known
}

/** Saves an externalId of a kind. @throws Refusal: invalid, when another of the account has it */
export function savingExternalId<T>(
  kind: 'connection' | 'vehicle',
  save: () => Promise<T>,
): Promise<T> {
  const refusal = invalidField('externalId', `is already used by another ${kind}`);
  return unlessTaken(`${kind}s.account_id, ${kind}s.external_id`, refusal, save);
}

/**
 * Maps one of a connection's labels to an incident type, for events to come; null removes it from the map.
 * @throws Refusal: invalid
 */
export async function mapIncidentLabel(
  env: Env,
  caller: Caller,
  { id, incidentTypeMap }: Connection,
  label: string,
  type: string | null,
): Promise<void> {
  const change = { [label]: type && [type] };
  if (type !== null && !v.is(IncidentTypeMap, { ...incidentTypeMap, [label]: [type] }))
    throw invalid('The labels that a connection maps can be at most 32 KiB. Remove one first.');
  // Of one label alone: somebody may map another at the same time.
  const patched = sql`json_patch(coalesce(${connections.incidentTypeMap}, '{}'), ${JSON.stringify(change)})`;
  await updateConnection(env, caller, id, { incidentTypeMap: patched });
}

/** The statement that sets when a connection was last pulled (milliseconds since 1970). */
export const setPulledAt = (db: Database, id: string, at: number) =>
  db.update(connections).set({ lastPulledAt: at }).where(eq(connections.id, id));

/** The statement that sets since when a connection has been silent; null once it sends again. */
export const setSilentSince = (db: Database, id: string, since: number | null) =>
  db.update(connections).set({ silentSince: since }).where(eq(connections.id, id));

/** The statement that counts safety events that are too old for notifications; `count` is SQL. */
export const addHeldBack = (
  db: Database,
  { connectionId, now }: { connectionId: string; now: number },
  count: SQL,
) =>
  db
    .update(connections)
    .set({ heldBack: sql`${connections.heldBack} + n.count`, heldBackAt: now })
    .from(sql`(select ${count} as count) n`)
    .where(and(eq(connections.id, connectionId), gt(sql`n.count`, 0)));

/** The statements that set a health status, and record the change, where `also` is true. */
export function setHealthStatus(
  db: Database,
  { id, accountId, now }: { id: string; accountId: string; now: number },
  status: HealthStatus,
  also?: SQL,
) {
  const differs = and(isOwn({ accountId }, id), ne(connections.healthStatus, status), also);
  const source = { accountId, connectionId: id, now };
  const ids = db.select({ id: connections.id }).from(connections).where(differs);
  return [
    recordChange(db, source, 'changed', 'connection', ids),
    db.update(connections).set({ healthStatus: status, updatedAt: now }).where(differs),
  ] as const;
}

function recordConnection(
  db: Database,
  { id, accountId, updatedAt }: Pick<Connection, 'id' | 'accountId' | 'updatedAt'>,
) {
  const source = { accountId, connectionId: id, now: updatedAt };
  const own = db.select({ id: connections.id }).from(connections).where(isOwn({ accountId }, id));
  return recordChange(db, source, 'changed', 'connection', own);
}

/** A connection's name, otherwise its provider. */
export const connectionName = ({ name, tsp }: Pick<Connection, 'name' | 'tsp'>): string =>
  name ?? tsp;

const collator = new Intl.Collator('en', { numeric: true });

/** Orders connections by name, and numbers as people count: 1, 2, 10. */
export const byName = (a: Connection, b: Connection): number =>
  collator.compare(connectionName(a), connectionName(b));

/** A provider's name for people, unless one is given: "Acme" for "acme". */
const providerName = (provider: string): string =>
  providerNames.get(provider.toLowerCase()) ?? capital(provider);

const providerNames = new Map([['otapi', 'Open Telematics']]);
