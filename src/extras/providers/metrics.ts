import { and, count, lte, sql } from 'drizzle-orm';
import { ofActiveAccount } from '../../core/platform/db/guard.ts';
import type { Extra } from '../extra.ts';
import { pulls } from './tables.ts';

/** Where counting stops. */
const maxCounted = 10_000;

/** How many connections of active accounts are due to be pulled, and for how long the first has been. */
export const metrics: NonNullable<Extra['metrics']> = {
  about: {
    fleet_pulls_due: `Connections that are due to be pulled; at most ${maxCounted}.`,
    fleet_pull_oldest_due_seconds: 'How long the oldest of them has been due.',
  },
  measure(db, now) {
    const due = db
      .select({ dueAt: pulls.dueAt })
      .from(pulls)
      .where(and(lte(pulls.dueAt, now), ofActiveAccount(sql`${pulls.accountId}`)))
      .orderBy(pulls.dueAt)
      .limit(maxCounted)
      .as('due');
    return db
      .select({
        fleet_pulls_due: count(),
        fleet_pull_oldest_due_seconds:
          sql<number>`coalesce(${now} - min(${due.dueAt}), 0) / 1000.0`.as('oldest'),
      })
      .from(due);
  },
};
