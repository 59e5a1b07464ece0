import { and, count, desc, eq, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { hasId } from '../../platform/db/has-id.ts';
import { connections } from '../../platform/db/schema/accounts.ts';
import { safetyEvents } from '../../platform/db/schema/fleet.ts';
import { isMapped } from './translate.ts';

export const eventsLookedAt = 1_000;

type Connection = typeof connections.$inferSelect;

/** The unmapped labels of the last 1,000 events of a connection of the account. */
export const unmappedWords = async (
  env: Env,
  caller: Caller,
  connection: Connection,
): Promise<WordCount[]> =>
  unmappedOf(
    connection,
    await asCaller(env, caller, (db) => selectWords(db, caller, connection.id)),
  );

/** The labels of a connection's last 1,000 events, the most frequent first. */
export function selectWords(db: Database, { accountId }: Caller, id: string) {
  const own = db
    .select({ id: connections.id })
    .from(connections)
    .where(and(eq(connections.id, id), eq(connections.accountId, accountId)));
  const last = db
    .select({ types: safetyEvents.incidentTypes })
    .from(safetyEvents)
    .where(hasId(sql`${safetyEvents.connectionId}`, sql`${own}`))
    .orderBy(desc(safetyEvents.startedAt))
    .limit(eventsLookedAt)
    .as('last');
  const word = sql<string>`word.value`;
  return db
    .select({ word: word.as('word'), count: count() })
    .from(last)
    .crossJoin(sql`json_each(${last.types}) word`)
    .groupBy(word)
    .orderBy(desc(count()));
}

/** A provider's label, and how many of the last events have it. */
export type WordCount = Awaited<ReturnType<typeof selectWords>>[number];

/** Those without a mapping. */
export const unmappedOf = (connection: Connection, words: WordCount[]): WordCount[] => {
  const { provider, incidentTypeMap } = connection;
  const feed = { provider, incidentTypeMap: incidentTypeMap ?? undefined };
  return words.filter(({ word }) => !isMapped(feed, word));
};
