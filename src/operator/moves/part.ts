import { eq, sql } from 'drizzle-orm';
import { type Database, refuseUnless, transaction } from '../../core/platform/db/database.ts';
import type { accounts } from '../../core/platform/db/schema/accounts.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { invalid } from '../../core/platform/errors.ts';
import type { Move as Shown } from '../api/moves.ts';
import { moves } from './tables.ts';

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

export type Account = typeof accounts.$inferSelect;

/** The body of the part `open`: what the other cell needs to know. `domains` are unique among accounts. */
export type Offer = { account: Account; keys: string[]; hasBucket: boolean; domains: string[] };

/** The body of the part `copy`. */
export type Rows = { table: string; columns: string[]; rows: unknown[][] };

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

/** A cell's row of a move. */
export async function findMove(env: Env, accountId: string): Promise<Move | undefined> {
  const db = openDatabase(env);
  const [found] = await transaction(
    db,
    db.select({ move: moves.move }).from(moves).where(eq(moves.accountId, accountId)),
  );
  return found && JSON.parse(found.move);
}

/** The statements that write the row of a move, unless it is no longer as it was read. */
export function saveMove(db: Database, now: Move | null, next: Move) {
  const { accountId, state } = next;
  const row = { state, move: JSON.stringify(next) };
  const stored = db.select({ move: moves.move }).from(moves).where(eq(moves.accountId, accountId));
  return [
    refuseUnless(db, sql`(${stored}) is ${now && JSON.stringify(now)}`, {
      kind: 'unavailable',
      retryAfter: 10,
    }),
    db
      .insert(moves)
      .values({ accountId, ...row })
      .onConflictDoUpdate({ target: moves.accountId, set: row }),
  ];
}

/** The statement that deletes a cell's row of its move. */
export const forgetMove = (db: Database, accountId: string) =>
  db.delete(moves).where(eq(moves.accountId, accountId));
