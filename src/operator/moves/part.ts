import { sql } from 'drizzle-orm';
import { type Database, read, refuseUnless, write } from '../../platform/db/database.ts';
import { beingMoved } from '../../platform/db/guard.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { invalid } from '../../platform/errors.ts';
import type { Move as Shown } from '../api/moves.ts';

/** A cell's row of a move: that of the cell which the account leaves has the progress. */
export type Move = Shown & {
  /** What is sent late for an earlier move is refused. */
  id: string;
  since: number;
  /** Copying has come to which table or folder, and there after which row or file. */
  at: number;
  after: unknown[] | null;
};

/** What the cell where an account goes has to do; the body of its request has what that takes. */
export type Part = {
  task: 'open' | 'copy' | 'compare' | 'file' | 'activate' | 'clear';
  from: string;
  file?: { key: string; md5: string | null };
  /** Where the move stands, and where it goes on once this is done. */
  now: Move | null;
  next: Move;
};

/** Rows can have any text, and headers cannot. */
export const encodePart = (part: Part): string => encodeURIComponent(JSON.stringify(part));

/** @throws Refusal: invalid, for what `encodePart` has not made */
export function decodePart(part: string): Part {
  try {
    return JSON.parse(decodeURIComponent(part));
  } catch {
    throw invalid('Not a part of a move');
  }
}

export async function findMove(env: Env, accountId: string): Promise<Move | undefined> {
  const [found] = await read<{ move: string }>(openDatabase(env))`
    select move from moves where account_id = ${accountId}`;
  return found && JSON.parse(found.move);
}

/** The statements that write the row of a move, unless it is no longer as it was read. */
export const saveMove = (db: Database, now: Move | null, { accountId, ...next }: Move) =>
  [
    refuseUnless(
      db,
      sql`(select move from moves where account_id = ${accountId}) is ${now && JSON.stringify(now)}`,
      beingMoved,
    ),
    write(db)`
    replace into moves (account_id, state, move)
    values (${accountId}, ${next.state}, ${JSON.stringify({ accountId, ...next })})`,
  ] as const;
