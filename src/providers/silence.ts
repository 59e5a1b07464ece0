import { sql } from 'drizzle-orm';
import { noteHealthStatus, noteSilentSince } from '../fleet/connections.ts';
import { type Change, type Database, openDatabase, statement, transaction } from '../platform/db/database.ts';
import { andNotMoving } from '../platform/db/moving.ts';
import { hourMs } from '../platform/durations.ts';
import { isLeft, newBudget } from '../platform/jobs/budget.ts';
import { connectionsPerStep, queueStories, type Story } from './health-alerts.ts';
import { silentMs } from './plan.ts';

/** Uses of an ingest key are recorded once an hour, so the last one may be an hour later. */
const noteMs = hourMs;

/** How many connections one statement checks. */
const perChunk = 2000;

type Changed = { id: string; accountId: string; name: string; silent: number };

/**
 * Finds connections of connectors that have sent nothing for a day, and those that send again, and notifies their
 * accounts' people. Those that have never sent anything are ignored. Returns how many have changed.
 */
export async function noteSilences(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let count = 0;
  for (let after: string | undefined = ''; after !== undefined && isLeft(budget); ) {
    const [changed, [last]]: readonly [Changed[], { id: string | null }[]] = await transaction(
      db,
      [selectChanged(env, db, after, now), lastOfChunk(db, after)],
      { repeatable: true },
    );
    const noted = changed.flatMap((one) => note(db, one, now));
    await queueStories(env, db, changed.map(storyOf), now, noted);
    count += changed.length;
    if (changed.length < connectionsPerStep) after = last?.id ?? undefined;
  }
  return count;
}

const chunk = (after: string) =>
  sql`(select * from connections where id > ${after} order by id limit ${perChunk})`;

const lastOfChunk = (db: Database, after: string) =>
  statement<{ id: string | null }>(db)`select max(id) as id from ${chunk(after)}`;

const selectChanged = (env: Env, db: Database, after: string, now: number) =>
  statement<Changed>(db)`
    select id, accountId, name, silent from (
      select c.id, c.account_id as accountId, coalesce(c.name, c.tsp) as name, c.silent_since is not null as known, (
        select max(t.last_used_at) <= ${now - silentMs - noteMs}
        from tokens t indexed by tokens_active_by_connection
        where t.connection_id = c.id and t.revoked_at is null) as silent
      from ${chunk(after)} c
      where not exists (select 1 from pulls p where p.connection_id = c.id)
        ${andNotMoving(env, sql`c.account_id`)})
    where silent <> known limit ${connectionsPerStep}`;

const note = (db: Database, { id, accountId, silent }: Changed, now: number): Change[] => [
  noteSilentSince(db, id, silent ? now : null),
  ...noteHealthStatus(db, { id, accountId, now }, silent ? 3 : 1),
];

const silence =
  'has sent nothing for a day, so you are not notified of crashes. Ask the team that runs its connector to check it.';

const storyOf = ({ silent, ...one }: Changed): Story =>
  silent
    ? { ...one, subject: 'is silent', text: silence }
    : { ...one, subject: 'is sending again', text: 'is sending again.' };
