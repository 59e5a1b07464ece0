import { sql } from 'drizzle-orm';
import { change, type Database, jsonList, openDatabase, statement } from '../../platform/db/database.ts';
import { forgetTokens } from './service.ts';

const tokensPerChunk = 100;

/** The statements that revoke all ingest keys of a connection. The first one returns their hashes. */
export const revokeKeysOf = (db: Database, connectionId: string, now: number) => {
  const active = sql`connection_id = ${connectionId} and revoked_at is null`;
  return [
    statement<{ hash: string }>(db)`select hash from tokens where ${active}`,
    change(db)`update tokens set revoked_at = ${now} where ${active}`,
  ] as const;
};

/** Deletes the credentials of the account or connection, from KV first. */
export async function removeTokens(
  env: Env,
  { accountId, connectionId }: { accountId: string; connectionId: string | null },
): Promise<string | undefined> {
  const db = openDatabase(env);
  const ofConnection = connectionId === null ? sql.empty() : sql`and connection_id = ${connectionId}`;
  const found = await statement<{ id: string; hash: string }>(db)`
    select id, hash from tokens where account_id = ${accountId} ${ofConnection} limit ${tokensPerChunk}`;
  await forgetTokens(
    env,
    found.map(({ hash }) => hash),
  );
  await change(db)`delete from tokens where id in ${jsonList(found.map(({ id }) => id))}`;
  return found.length < tokensPerChunk ? undefined : '';
}
