import { type SQL, sql } from 'drizzle-orm';
import { openDatabase } from '../platform/db/database.ts';
import type { Budget } from '../platform/jobs/budget.ts';
import { changeInChunks, rowsPerChunk } from '../platform/jobs/chunks.ts';

/** Deletes sign-in links that have expired unused, once an hour. Returns how many. */
export const pruneSignInLinks = (env: Env, now = Date.now(), budget?: Budget): Promise<number> =>
  changeInChunks(openDatabase(env), expiredSignInLinks(now), budget);

/** Deletes sessions that have expired, once an hour. Returns how many. */
export const pruneSessions = (env: Env, now = Date.now(), budget?: Budget): Promise<number> =>
  changeInChunks(openDatabase(env), expiredSessions(now), budget);

/** The statements, apart so that a test can ask SQLite for their plans. */
export const expiredSignInLinks = (now: number): SQL => sql`
  delete from sign_in_links where hash in (
    select hash from sign_in_links indexed by sign_in_links_by_expiry
    where expires_at <= ${now} limit ${rowsPerChunk})`;

export const expiredSessions = (now: number): SQL => sql`
  delete from sessions where hash in (
    select hash from sessions indexed by sessions_by_expiry
    where expires_at <= ${now} limit ${rowsPerChunk})`;
