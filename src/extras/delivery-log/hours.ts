import { and, eq, getTableColumns, gte, inArray, type SQLWrapper, sql } from 'drizzle-orm';
import { type Database, jsonList } from '../../core/platform/db/database.ts';
import { webhookHours } from '../../core/platform/db/schema/webhooks.ts';
import {
  countedHours,
  hourOf,
  noTally,
  type Tally,
} from '../../core/webhooks/deliveries/counts.ts';

/** A tally of one hour since 1970. */
export type HourTally = Tally & { hour: number };

type CountedHour = Awaited<ReturnType<typeof selectHours>>[number];

/** Selects the last `count` hours of these webhooks (a query of ids). */
export function selectHours(db: Database, webhookIds: SQLWrapper, count: number, now: number) {
  const first = hourOf(now) - count + 1;
  const slots = Array.from({ length: count }, (_, i) => (first + i) % countedHours);
  const { slot, noticed: _, ...columns } = getTableColumns(webhookHours);
  return db
    .select(columns)
    .from(sql`${webhookIds} w`)
    .crossJoin(webhookHours)
    .where(
      and(
        eq(webhookHours.webhookId, sql`w.id`),
        gte(webhookHours.hour, first),
        count < countedHours ? inArray(slot, jsonList(slots)) : undefined,
      ),
    );
}

/** The last hours of a webhook, oldest first, empty where nothing was counted. */
export function inHours(counted: CountedHour[], count: number, now: number): HourTally[] {
  const first = hourOf(now) - count + 1;
  const found = new Map(counted.map((row) => [row.hour, row]));
  return Array.from({ length: count }, (_, i) => ({
    ...noTally,
    ...found.get(first + i),
    hour: first + i,
  }));
}
