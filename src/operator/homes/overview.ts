import { nobody } from '../../accounts/owner.ts';
import { change, openDatabase, transaction } from '../../platform/db/database.ts';
import { dayMs } from '../../platform/durations.ts';
import { timestamp } from '../../platform/fields.ts';
import { askHomes } from '../../platform/homes/each.ts';
import { homesOf, nameOf } from '../../platform/homes/homes.ts';
import { maxAccountsCounted } from '../api/counted.ts';
import type { Home } from '../api/service.ts';
import { earlierSize, sizeOf } from '../health/size.ts';

/**
 * All homes, asked in parallel. Each reads two rows for each of at most 10,000 accounts, and one for its size.
 *
 * @throws Refusal: unavailable, when the only home does not respond
 */
export async function listHomes(env: Env, now = Date.now()): Promise<Home[]> {
  const asked = new Map(await askHomes(env, (home) => look(home, now)));
  const unknown = { accounts: null, bytes: null, share: null, eventsPerDay: null, fullOn: null };
  return [...homesOf(env)].map(([name, home]) => asked.get(home) ?? { name, ...unknown });
}

type Counted = { accounts: number; events: number };

async function look(env: Env, now: number): Promise<Home> {
  const db = openDatabase(env);
  const yesterday = (Math.floor(now / dayMs) - 1) * 24;
  const counted = change(db)`
    select count(*) as accounts,
      coalesce(sum(k.risk_1 + k.risk_2 + k.risk_3 + k.risk_4 + k.risk_5), 0) as events
    from (select id from accounts where id <> ${nobody} and home is null limit ${maxAccountsCounted}) a
    left join event_counts k on k.account_id = a.id and k.hours = 24 and k.start = ${yesterday}`;
  const [{ results, meta }, [earlier]] = await transaction(db, [counted, earlierSize(db, now)], {
    repeatable: true,
  });
  const [{ accounts, events } = { accounts: 0, events: 0 }] = results as Counted[]; // as the statement selects
  const { bytes, share, daysLeft } = sizeOf(meta.size_after, now, earlier);
  const fullOn = daysLeft === null ? null : timestamp(now + daysLeft * dayMs).slice(0, 10);
  return { name: nameOf(env), accounts, eventsPerDay: events, bytes, share, fullOn };
}
