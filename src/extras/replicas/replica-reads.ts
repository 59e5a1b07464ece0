import { config } from '../../core/platform/config.ts';
import { type Caller, guarded, type Reader } from '../../core/platform/db/guard.ts';
import { openDatabase, openSession } from '../../core/platform/db/system.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { markActive } from '../../core/platform/fair-queue.ts';
import { fault } from '../../core/platform/log.ts';
import { newTokenCache } from './token-cache.ts';

/** Reads for the tokens that this isolate has just checked on the primary. */
const readChecked = newTokenCache();

/**
 * Reads the lists of a request for a token from the nearest replica, unless it asks for the newest data (`isNewest`).
 * The primary checks the token within the last two seconds, or at the same time. `behind` continues work after the
 * response. Undefined where there are no replicas.
 */
export function replicaReader(
  env: Env,
  isNewest: boolean,
  behind: (work: Promise<unknown>) => void,
): Reader | undefined {
  if (!config(env).readReplicas) return undefined;
  let primary = isNewest; // also because a replica failed
  let bookmark: string | undefined;
  return {
    async read(env, caller, statements, connectionId) {
      markActive(caller.accountId);
      const readIn = async (constraint: string, repeatable: boolean) => {
        const session = env.DB.withSession(constraint);
        const options = { connectionId, repeatable };
        const read = await guarded(env, openSession(session), caller, statements, options);
        bookmark = session.getBookmark() ?? bookmark;
        return read;
      };
      const readPrimary = async () => {
        const { check, results } = await readIn('first-primary', true);
        if ('tokenId' in caller) caller.check = check;
        return results;
      };
      const readReplica = async () => {
        try {
          return (await readIn(bookmark ?? 'first-unconstrained', false)).results;
        } catch (error) {
          if (!(error instanceof Refusal) || error.failure.kind === 'unavailable')
            fault('warn', 'A replica failed, and the primary is read', {}, error);
          primary = true; // for the rest of the request
          return readPrimary();
        }
      };
      if (primary || !('tokenId' in caller)) return readPrimary();
      const check = () => checkOnPrimary(env, caller);
      const { lastUsedAt, result } = await readChecked(caller.tokenId, check, readReplica, behind);
      caller.check ??= { lastUsedAt };
      return result;
    },
    continueFrom(seen) {
      bookmark = seen;
    },
    bookmark: () => bookmark,
    usePrimary() {
      const wasReplica = !primary;
      primary = true;
      return wasReplica;
    },
  };
}

async function checkOnPrimary(env: Env, caller: Caller): Promise<number> {
  const { check } = await guarded(env, openDatabase(env), caller, () => [], {});
  return check.lastUsedAt;
}
