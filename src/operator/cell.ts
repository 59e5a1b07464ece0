import { nobody } from '../accounts/owner.ts';
import { config } from '../platform/config.ts';
import { readResult, transaction } from '../platform/db/database.ts';
import { openDatabase } from '../platform/db/system.ts';
import { dayMs } from '../platform/durations.ts';
import { timestamp } from '../platform/fields.ts';
import { maxAccountsCounted } from './api/operation.ts';
import type { Cell } from './api/service.ts';
import { earlierSize, sizeOf } from './health/service.ts';

type Counted = { accounts: number; events: number };

/** This cell, and how full it is. Reads two rows for each of at most 10,000 accounts. @throws Refusal: unavailable */
export async function showCell(env: Env, now = Date.now()): Promise<Cell> {
  const db = openDatabase(env);
  const yesterday = (Math.floor(now / dayMs) - 1) * 24;
  const counts = readResult(db)`
    select count(*) as accounts,
      coalesce(sum(k.risk_1 + k.risk_2 + k.risk_3 + k.risk_4 + k.risk_5), 0) as events
    from (select id from accounts where id <> ${nobody} and status <> 'moved' limit ${maxAccountsCounted}) a
    left join event_counts k on k.account_id = a.id and k.hours = 24 and k.start = ${yesterday}`;
  const { counted, sizes } = await transaction(db, { counted: counts, sizes: earlierSize(db, now) });
  const [{ accounts, events } = { accounts: 0, events: 0 }] = counted.results as Counted[]; // as it selects
  const { bytes, share, daysLeft } = sizeOf(counted.meta.size_after, now, sizes[0]);
  const fullOn = daysLeft === null ? null : timestamp(now + daysLeft * dayMs).slice(0, 10);
  return { name: config(env).cell, accounts, eventsPerDay: events, bytes, share, fullOn };
}
