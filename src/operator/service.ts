import { eq, sql } from 'drizzle-orm';
import { type Database, only, transaction } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { accounts, connections } from '../db/tables.ts';
import { invalid } from '../errors.ts';
import { forgetIngestKeys } from '../tokens/service.ts';

export type Account = typeof accounts.$inferSelect;
export type Connection = typeof connections.$inferSelect;

/** All accounts, oldest first, at most 1,000. */
export const listAccounts = (db: Database): Promise<Account[]> =>
  db.select().from(accounts).orderBy(accounts.createdAt, accounts.id).limit(1000);

/** Opens an account, active at once. */
export async function createAccount(db: Database, name: string): Promise<Account> {
  const account: Account = { id: newId(), name, status: 'active', createdAt: Date.now() };
  await db.insert(accounts).values(account);
  return account;
}

/**
 * Suspends an account, so that all its credentials get 403 at once, or makes it active again.
 *
 * @throws Refusal: invalid, when there is no such account
 */
export async function setAccountStatus(
  db: Database,
  id: string,
  status: Account['status'],
): Promise<Account> {
  const [account] = await db.update(accounts).set({ status }).where(eq(accounts.id, id)).returning();
  if (!account) throw invalid('Unknown account');
  return account;
}

/** The connections of an account, oldest first, at most 1,000. */
export const listConnections = (db: Database, accountId: string): Promise<Connection[]> =>
  db
    .select()
    .from(connections)
    .where(eq(connections.accountId, accountId))
    .orderBy(connections.createdAt, connections.id)
    .limit(1000);

/** A new feed. `tSP` is the provider's name as deliveries tell it; known providers have one. */
export type NewConnection = {
  provider: string;
  name?: string | undefined;
  tSP?: string | undefined;
  incidentTypeMap?: Record<string, string[]> | undefined;
};

/**
 * Adds a connection to an account.
 *
 * @throws Refusal: invalid, when there is no such account
 */
export async function createConnection(
  db: Database,
  accountId: string,
  input: NewConnection,
): Promise<Connection> {
  const now = Date.now();
  const connection: Connection = {
    id: newId(),
    accountId,
    name: input.name ?? null,
    provider: input.provider,
    tsp: input.tSP ?? providerNames[input.provider] ?? input.provider,
    healthStatus: 1,
    incidentTypeMap: input.incidentTypeMap ?? null,
    createdAt: now,
    updatedAt: now,
  };
  await transaction(db, [
    only(db, sql`exists (select 1 from accounts where id = ${accountId})`, 'unknown account'),
    db.insert(connections).values(connection),
  ]);
  return connection;
}

/** What may change of a connection. */
export type ConnectionChange = Partial<Pick<Connection, 'name' | 'tsp' | 'healthStatus' | 'incidentTypeMap'>>;

/**
 * Changes a connection; its ingest keys are looked up afresh, so that a new map soon holds everywhere.
 *
 * @throws Refusal: invalid, when there is no such connection
 */
export async function updateConnection(
  db: Database,
  kv: KVNamespace,
  id: string,
  change: ConnectionChange,
): Promise<Connection> {
  const [connection] = await db
    .update(connections)
    .set({ ...change, updatedAt: Date.now() })
    .where(eq(connections.id, id))
    .returning();
  if (!connection) throw invalid('Unknown connection');
  await forgetIngestKeys(db, kv, id);
  return connection;
}

const providerNames: Record<string, string> = {
  samsara: 'Samsara',
  motive: 'Motive',
  terminal: 'Terminal',
  otapi: 'Open Telematics',
  geotab: 'Geotab',
};
