import type { Caller } from '../db/guard.ts';
import { homeOfMoved } from '../db/moving.ts';
import { Refusal, refusalIn } from '../errors.ts';
import { homesOf, nameOf } from '../homes/homes.ts';
import { movedTo, noteMoved } from '../homes/moved.ts';
import { afresh } from './body.ts';
import type { Context } from './context.ts';

/**
 * Handles the rest of a request in the home that its credential names, or to which its account is known to have moved.
 *
 * @throws Refusal: unavailable, when the home's bindings are gone
 */
export function enterHome(c: Context, name: string, accountId = ''): void {
  const wanted = movedTo(accountId) ?? name;
  if (wanted === nameOf(c.env)) return;
  const home = homesOf(c.env).get(wanted);
  if (!home) throw new Refusal({ kind: 'unavailable', retryAfter: 60 });
  c.env = home;
}

/** How often a request was repeated: an account may have moved more than once. */
const followed = new WeakMap<Request, number>();

/**
 * The request to repeat after `error`, if its account has moved to another home. Nothing was changed yet. An operator's
 * request names no home, so every home is asked again.
 */
export async function requestToFollow(c: Context, error: unknown): Promise<Request | undefined> {
  const hops = followed.get(c.req.raw) ?? 0;
  if (refusalIn(error)?.failure.kind !== 'moved' || hops >= homesOf(c.env).size) return undefined;
  const accountId = callerOf(c)?.accountId;
  if (accountId !== undefined) {
    const home = await homeOfMoved(c.env, accountId);
    if (!home) return undefined;
    noteMoved(accountId, home);
  }
  const fresh = afresh(c.req.raw);
  followed.set(fresh, hops + 1);
  return fresh;
}

/** Undefined for operators, whose routes decide for each call in which account they act. */
const callerOf = (c: Context): Caller | undefined => c.get('caller');
