import { type SQL, sql } from 'drizzle-orm';
import { openDatabase } from '../../platform/db/database.ts';
import type { Budget } from '../../platform/jobs/budget.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/jobs/chunks.ts';

/** How many days the row of a credential is kept after it was revoked or expired, to tell what became of it. */
export const deadTokenDays = 90;

/**
 * Deletes credentials that were revoked or expired 90 days ago, once an hour. They are refused as before: an unknown
 * credential and a revoked one get the same reply. Returns how many.
 */
export async function pruneTokens(env: Env, now = Date.now(), budget?: Budget): Promise<number> {
  const db = openDatabase(env);
  const before = now - deadTokenDays * 86_400_000;
  return (
    (await changeInChunks(db, longRevokedTokens(before), budget)) +
    (await changeInChunks(db, longExpiredTokens(before), budget))
  );
}

/** The statements, apart so that a test can ask SQLite for their plans. */
export const longRevokedTokens = (before: number): SQL => sql`
  delete from tokens where id in (
    select id from tokens indexed by tokens_by_revocation
    where revoked_at <= ${before} limit ${rowsPerChunk})`;

export const longExpiredTokens = (before: number): SQL => sql`
  delete from tokens where id in (
    select id from tokens indexed by tokens_by_expiry
    where expires_at <= ${before} limit ${rowsPerChunk})`;
