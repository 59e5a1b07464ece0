import { config } from '../config.ts';
import { Refusal } from '../errors.ts';
import { markActive } from '../fair-queue.ts';
import { fault } from '../log.ts';
import { bookmarkIn } from './cursor.ts';
import type { Database, Results, Statements } from './database.ts';
import { asCaller, type Caller, guarded, type ReplicaReads } from './guard.ts';
import { openDatabase, openSession } from './system.ts';
import { newTokenCache } from './token-cache.ts';

/** Reads for the tokens that this isolate has just checked on the primary. */
const readChecked = newTokenCache();

/**
 * As `asCaller`, for reads that may be slightly stale: a token's reads use the nearest replica, and
 * the primary checks the token within the last two seconds, or at the same time.
 * @throws Refusal: as `asCaller`; never because of a replica alone
 */
export async function readAsCaller<const S extends Statements>(
  env: Env,
  caller: Caller,
  statements: (db: Database) => S,
  connectionId?: string,
): Promise<Results<S>> {
  const replicaReads = replicaReadsOf(caller);
  const options = { connectionId, repeatable: true };
  if (!('tokenId' in caller) || !replicaReads) return asCaller(env, caller, statements, options);
  markActive(caller.accountId);

  const readIn = async (constraint: string, repeatable: boolean) => {
    const session = env.DB.withSession(constraint);
    const read = await guarded(env, openSession(session), caller, statements, {
      connectionId,
      repeatable,
    });
    const bookmark = session.getBookmark();
    if (bookmark) replicaReads.bookmark = bookmark;
    return read;
  };
  const readPrimary = async () => {
    const { check, results } = await readIn('first-primary', true);
    caller.check = check;
    return results;
  };
  const readReplica = async () => {
    try {
      return (await readIn(replicaReads.bookmark ?? 'first-unconstrained', false)).results;
    } catch (error) {
      if (!(error instanceof Refusal) || error.failure.kind === 'unavailable')
        fault('warn', 'A replica failed, and the primary is read', {}, error);
      replicaReads.primary = true; // for the rest of the request
      return readPrimary();
    }
  };
  if (replicaReads.primary) return readPrimary();
  const check = () => checkOnPrimary(env, caller);
  const { lastUsedAt, result } = await readChecked(
    caller.tokenId,
    check,
    readReplica,
    replicaReads.behind,
  );
  caller.check ??= { lastUsedAt };
  return result;
}

async function checkOnPrimary(env: Env, caller: Extract<Caller, { tokenId: string }>) {
  const { check } = await guarded(env, openDatabase(env), caller, () => [], {});
  return check.lastUsedAt;
}

const replicaReadsOf = (caller: Caller): ReplicaReads | undefined =>
  'tokenId' in caller ? caller.replicaReads : undefined;

export const mayReadReplica = (caller: Caller): boolean => replicaReadsOf(caller) !== undefined;

/** Makes the rest of a request read the primary. Returns false if it does so already. */
export function usePrimary(caller: Caller): boolean {
  const replicaReads = replicaReadsOf(caller);
  if (!replicaReads || replicaReads.primary) return false;
  replicaReads.primary = true;
  return true;
}

/** Makes a request read nothing older than the page before it, whose `next` is the cursor. */
export function continueFrom(env: Env, caller: Caller, cursor: string | undefined): void {
  const replicaReads = replicaReadsOf(caller);
  const seen = replicaReads && cursor !== undefined ? bookmarkIn(cursor) : undefined;
  // A bookmark is meaningless in another cell, where an account is visible only with all its data.
  const mark = `${config(env).cell}:`;
  if (replicaReads && seen?.startsWith(mark)) replicaReads.bookmark = seen.slice(mark.length);
}

/** The bookmark for the cursor of a request's page; undefined where there are no replicas. */
export function bookmarkOf(env: Env, caller: Caller): string | undefined {
  const bookmark = replicaReadsOf(caller)?.bookmark;
  return bookmark === undefined ? undefined : `${config(env).cell}:${bookmark}`;
}
