import { env } from 'cloudflare:workers';
import type { Move, MoveProgress } from '../../src/operator/api/moves.ts';
import { through } from '../../src/platform/db/through.ts';
import { homesOf } from '../../src/platform/homes/homes.ts';
import { operator, type Reply } from './world.ts';

/** A home of the tests' three, by its name. */
export const home = (name: string): Env => {
  const found = homesOf(env).get(name);
  if (!found) throw new Error(`there is no home ${name}`);
  return found;
};

/** What a query finds in a home. */
export const rowsIn = async (name: string, query: string, ...values: unknown[]) =>
  (
    await home(name)
      .DB.prepare(query)
      .bind(...values)
      .all<Record<string, unknown>>()
  ).results;

/** Moves an account as the tool does, to the end. */
export async function moveTo(accountId: string, to: string): Promise<Move> {
  let last: Move | undefined;
  for (let calls = 0; calls < 100; calls++) {
    const reply: Reply<MoveProgress> = await operator.post(`/operator/accounts/${accountId}/move`, { to });
    if (reply.status === 503) continue;
    // The minute's job may have come to the end first.
    const { data } = await operator.get<MoveProgress>(`/operator/accounts/${accountId}/move`);
    if (last && data.move === null) return { ...last, state: 'done' };
    if (reply.status !== 200) throw new Error(reply.message);
    const { move } = reply.data;
    if (move?.problem) throw new Error(move.problem);
    if (move?.state === 'done') return move;
    last = move ?? last;
    await scheduler.wait(20);
  }
  throw new Error('the move does not end');
}

/**
 * The bindings of a Worker that is killed after so many calls of its databases: from then on each fails. Every other
 * time the last one is still carried out.
 */
export function killedAfter(calls: number): Env {
  let left = calls;
  const isDead = () => left <= 0;
  const limited = async <T>(run: () => Promise<T>): Promise<T> => {
    if (isDead()) throw new Error('killed');
    left -= 1;
    if (!isDead()) return run();
    if (calls % 2 === 1) await run();
    throw new Error('killed');
  };
  const databases = Object.entries(env)
    .filter(([name]) => /^DB(_|$)/.test(name))
    .map(([name, db]) => [name, through(db as D1Database, (run) => limited(run))]);
  return { ...env, ...Object.fromEntries(databases) };
}

/** Every row and file that a move has made in a home beside the rows of the account. */
export async function leftovers(name: string, accountId: string): Promise<unknown[]> {
  const files = await home(name).ARCHIVE.list();
  return [
    ...(await rowsIn(name, 'select * from moves where account_id = ?1', accountId)),
    ...files.objects.filter(({ key }) => key.includes(accountId)).map(({ key }) => key),
  ];
}
