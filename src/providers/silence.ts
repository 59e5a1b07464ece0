import { sql } from 'drizzle-orm';
import { noteHealthStatus, noteSilentSince } from '../fleet/connections.ts';
import { type Database, openDatabase, statement, transaction } from '../platform/db/database.ts';
import { andNotMoving } from '../platform/db/moving.ts';
import { hourMs } from '../platform/durations.ts';
import { isLeft, newBudget } from '../platform/jobs/budget.ts';
import { silentMs } from './health.ts';
import { mailStories, type Story } from './mail.ts';

/** Uses of an ingest key are recorded once an hour, so the last one may be an hour later. */
const noteMs = hourMs;

/** How many connections one statement checks. */
const perChunk = 2000;

/** How many connections a round of emails covers: some 20 s at most. */
const perRound = 10;

type Changed = { id: string; accountId: string; name: string; silent: number };

/**
 * Finds connections of connectors that have sent nothing for a day, and those that send again, and emails their
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
    for (const one of changed) await note(db, one, now);
    await mailStories(env, db, changed.map(storyOf));
    count += changed.length;
    if (changed.length < perRound) after = last?.id ?? undefined;
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
    where silent <> known limit ${perRound}`;

async function note(db: Database, { id, accountId, silent }: Changed, now: number): Promise<void> {
  const since = noteSilentSince(db, id, silent ? now : null);
  const status = noteHealthStatus(db, { id, accountId, now }, silent ? 3 : 1);
  await transaction(db, [since, ...status], { repeatable: true });
}

const silence =
  'has sent nothing for a day, so you are not notified of crashes. Ask the team that runs its connector to check it.';

const storyOf = ({ silent, ...one }: Changed): Story =>
  silent
    ? { ...one, subject: `${one.name} is silent`, text: silence }
    : { ...one, subject: `${one.name} is sending again`, text: 'is sending again.' };
