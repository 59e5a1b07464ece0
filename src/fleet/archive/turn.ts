import { sql } from 'drizzle-orm';
import {
  change,
  type Database,
  openDatabase,
  refuseUnless,
  statement,
  transaction,
} from '../../platform/db/database.ts';
import { newId } from '../../platform/db/ids.ts';

/** A turn that nobody has renewed for so long is over: whoever had it is gone. */
const longestMs = 30_000;

/** The right to change the archive: one at a time has it, whatever else runs. */
export type Turn = {
  db: Database;
  /** How many statements it has run so far. */
  queries: () => number;
  /**
   * Runs statements as one transaction, if it is still one's turn. They must be safe to repeat. Returns how many rows
   * each has changed.
   *
   * @throws Refusal: unavailable, when the turn has passed to somebody else
   */
  write: (...statements: ReturnType<typeof change>[]) => Promise<number[]>;
};

/** Runs work that changes the archive. Returns 'busy', without having run it, while somebody else's does. */
export async function inArchiveTurn<T>(
  env: Pick<Env, 'DB'>,
  work: (turn: Turn) => Promise<T>,
): Promise<{ result: T } | 'busy'> {
  const db = openDatabase(env);
  const me = newId();
  const [taken] = await transaction(
    db,
    [
      statement<{ holder: string }>(
        db,
        sql`insert into archive_turns (id, holder, until) values (1, ${me}, ${Date.now() + longestMs})
          on conflict do update set holder = excluded.holder, until = excluded.until
            where until <= ${Date.now()} or holder = excluded.holder
          returning holder`,
      ),
    ],
    { repeatable: true },
  );
  if (taken.length === 0) return 'busy';
  const mine = () =>
    refuseUnless(
      db,
      sql`exists (select 1 from archive_turns where holder = ${me} and until > ${Date.now()})`,
      'lost turn',
    );
  const renewed = () =>
    change(db, sql`update archive_turns set until = ${Date.now() + longestMs} where id = 1`);
  let queries = 0;
  const write: Turn['write'] = async (...statements) => {
    queries += 2 + statements.length;
    const [, , ...done] = await transaction(db, [mine(), renewed(), ...statements], { repeatable: true });
    return done.map(({ meta }) => meta.changes);
  };
  try {
    return { result: await work({ db, write, queries: () => queries }) };
  } finally {
    await transaction(db, [change(db, sql`delete from archive_turns where holder = ${me}`)], {
      repeatable: true,
    });
  }
}

/** Whether the archive may have, or come to have, something of an owner. Reads two rows; needs no turn. */
export async function mayHave(
  env: Pick<Env, 'DB'>,
  { accountId, connectionId }: { accountId: string; connectionId?: string | null },
): Promise<boolean> {
  const owned = connectionId
    ? sql`account_id = ${accountId} and connection_id = ${connectionId}`
    : sql`account_id = ${accountId}`;
  const [found] = await openDatabase(env).all<{ may: number }>(
    sql`select exists (select 1 from archived_days where ${owned})
      or exists (select 1 from archived_lately where ${owned})
      or exists (select 1 from archive_turns where until > ${Date.now()}) as may`,
  );
  return found?.may === 1;
}
