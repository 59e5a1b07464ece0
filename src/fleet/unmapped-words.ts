import { type SQL, sql } from 'drizzle-orm';
import { type Database, read } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { type Feed, isMapped } from './incidents/translate.ts';

/** A provider's label, and how many of the last events have it. */
export type WordCount = { word: string; count: number };

/** How many of the last events are searched for unmapped labels. */
export const eventsLookedAt = 1_000;

/** The labels of a connection's last 1,000 events, the most frequent first. */
export const selectWords = (db: Database, connection: SQL) =>
  read<WordCount>(db)`
    select word.value as word, count(*) as count from (
      select incident_types from safety_events where connection_id = ${connection}
      order by started_at desc limit ${eventsLookedAt}) e, json_each(e.incident_types) word
    group by word.value order by count(*) desc`;

/** The labels without a mapping. */
export const unmappedOf = (feed: Feed, words: WordCount[]): WordCount[] =>
  words.filter(({ word }) => !isMapped(feed, word));

/** The unmapped labels of the last 1,000 events of a connection of the account. */
export async function unmappedWords(
  env: Env,
  caller: Caller,
  {
    id,
    provider,
    incidentTypeMap,
  }: { id: string; provider: string; incidentTypeMap: Feed['incidentTypeMap'] | null },
): Promise<WordCount[]> {
  const own = sql`(select id from connections where id = ${id} and account_id = ${caller.accountId})`;
  const [words] = await asCaller(env, caller, (db) => [selectWords(db, own)]);
  return unmappedOf({ provider, incidentTypeMap: incidentTypeMap ?? undefined }, words);
}
