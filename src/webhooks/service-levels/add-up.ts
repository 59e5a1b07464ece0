import { sql } from 'drizzle-orm';
import { type Database, read, transaction, write } from '../../platform/db/database.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { countedHours, hourOf, shownHours } from '../deliveries/read/counts.ts';
import { everybody, lastAddedUp } from './levels.ts';

/** Adds up the waits by account, hour and day, of all hours since before the last run. May be repeated. */
export async function addUpWaits(env: Env, now = Date.now()): Promise<void> {
  const db = openDatabase(env);
  const hour = hourOf(now);
  const [marked] = await read<{ last: number | null }>(db)`select ${lastAddedUp} as last`;
  const first = Math.max(marked?.last ?? 0, hour - shownHours);
  const hours = Array.from({ length: hour - first }, (_, i) => ({
    hour: first + i,
    slot: (first + i) % countedHours,
  }));
  const days = JSON.stringify([...new Set(hours.map(({ hour }) => hour - (hour % 24)))]);
  await transaction(
    db,
    [
      write(db)`
        insert into service_levels (account_id, hours, start, waits)
        with counted as materialized (
          select w.account_id, c.hour, j.key, sum(j.value) as n
          from webhooks w cross join json_each(${JSON.stringify(hours)}) h
          cross join webhook_hours c on c.webhook_id = w.id and c.slot = h.value->>'slot' and c.hour = h.value->>'hour'
          cross join json_each(c.waits) j group by 1, 2, 3)
        select * from (
          select account_id, 1, hour, json_group_object(key, n) from counted group by account_id, hour
          union all
          select ${everybody}, 1, h.value->>'hour', (select json_group_object(key, n) from (
            select key, sum(n) as n from counted where hour = h.value->>'hour' group by key))
          from json_each(${JSON.stringify(hours)}) h)
        where true ${replaced}`,
      write(db)`
        insert into service_levels (account_id, hours, start, waits)
        select account_id, 24, day, json_group_object(key, n) from (
          select s.account_id, d.value as day, j.key, sum(j.value) as n
          from (select id from accounts union all select ${everybody}) a cross join json_each(${days}) d
          cross join service_levels s on s.account_id = a.id and s.hours = 1 and s.start >= d.value and s.start < d.value + 24
          cross join json_each(s.waits) j group by 1, 2, 3)
        group by account_id, day ${replaced}`,
      write(db)`
        delete from service_levels
        where hours = 1 and start < ${hour - 2 * shownHours} or hours = 24 and start <= ${hour - countedHours}`,
    ],
    { repeatable: true },
  );
}

const replaced = sql`on conflict (account_id, hours, start) do update set waits = excluded.waits`;

/** Removes an account's sums at the end: the hourly job may add them up again before. */
export const removeServiceLevels = (db: Database, accountId: string) =>
  write(db)`delete from service_levels where account_id = ${accountId}`;
