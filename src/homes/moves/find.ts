import { askHomes } from '../../platform/homes/each.ts';
import { findMove, type Move } from './state.ts';

/** An account's move, and the home that it leaves. */
export type Found = { from: Env; move: Move };

/**
 * The move of an account that is under way, wherever the account lives by now. One that only cleans up behind itself
 * comes after one that does not.
 */
export async function findMoveAnywhere(env: Env, accountId: string): Promise<Found | undefined> {
  const asked = await askHomes(env, (home) => findMove(home, accountId));
  const found = asked.flatMap(([from, move]) => (move ? [{ from, move }] : []));
  return found.find(({ move }) => move.state !== 'cleaning up') ?? found[0];
}
