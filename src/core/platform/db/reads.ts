import { config } from '../config.ts';
import { bookmarkIn } from './cursor.ts';
import type { Database, Results, Statements } from './database.ts';
import { asCaller, type Caller, type Reader } from './guard.ts';

const readerOf = (caller: Caller): Reader | undefined =>
  'tokenId' in caller ? caller.reader : undefined;

/** As `asCaller`, for reads that may be slightly stale. @throws Refusal: as `asCaller` */
export function readAsCaller<const S extends Statements>(
  env: Env,
  caller: Caller,
  statements: (db: Database) => S,
  connectionId?: string,
): Promise<Results<S>> {
  const reader = readerOf(caller);
  return reader
    ? reader.read(env, caller, statements, connectionId)
    : asCaller(env, caller, statements, { connectionId, repeatable: true });
}

export const mayBeStale = (caller: Caller): boolean => readerOf(caller) !== undefined;

/** Makes the rest of a request read the newest data. Returns false if it does so already. */
export const usePrimary = (caller: Caller): boolean => readerOf(caller)?.usePrimary() ?? false;

/** Makes a request read nothing older than the page before it, whose `next` is the cursor. */
export function continueFrom(env: Env, caller: Caller, cursor: string | undefined): void {
  const seen = cursor === undefined ? null : bookmarkIn(cursor);
  // A bookmark is meaningless in another cell, where an account is visible only with all its data.
  const mark = `${config(env).cell}:`;
  if (seen?.startsWith(mark)) readerOf(caller)?.continueFrom(seen.slice(mark.length));
}

/** The bookmark for the cursor of a request's page; undefined where there are no replicas. */
export function bookmarkOf(env: Env, caller: Caller): string | undefined {
  const bookmark = readerOf(caller)?.bookmark();
  return bookmark === undefined ? undefined : `${config(env).cell}:${bookmark}`;
}

/** How long a reader may trust that a token has passed its check, in milliseconds since before it was asked. */
export const trustedMs = 2000;

/** When every check from before a revocation has lapsed; a twentieth more for imprecise clocks. */
export const allLapsedMs = 1.05 * trustedMs;

/** Returns once nobody trusts a check of a credential that was just revoked. */
export async function untilChecksLapse(
  env: Env,
  wait = (ms: number) => scheduler.wait(ms),
): Promise<void> {
  if (config(env).readReplicas) await wait(allLapsedMs);
}
