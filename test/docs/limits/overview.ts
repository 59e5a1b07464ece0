import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { recountLive } from '../../../src/fleet/trends/recount.ts';
import { openDatabase, transaction } from '../../../src/platform/db/database.ts';
import { ask, signIn } from '../../support/portal.ts';
import { rows } from '../../support/rows.ts';
import { type World, world } from '../../support/world.ts';
import { type Hits, hourMs } from './setting.ts';

export const overviewHits: Hits = {
  'open accidents, connections and webhooks with problems that the menu counts, of each': async (limit) => {
    const them = await world();
    const { cookie } = await signIn(them);
    const connections = async () => (await ask('GET', '/portal/events', { cookie })).text();
    await addAiling(them, 0, limit);
    expect(await connections()).toContain(`count-bad">${limit}<`);
    await addAiling(them, limit, 1);
    expect(await connections()).toContain(`count-bad">${limit}+<`);
  },
  'webhooks that are looked through for problems': async (limit) => {
    const them = await world();
    const { cookie } = await signIn(them);
    await rows(
      `insert into webhooks (id, account_id, url, normalised_url, http_verb, headers, notification_types, created_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i <= ?2)
       select ?1 || i, ?1, 'https://' || i, i, 'POST', '{}', 3, i from n`,
      them.accountId,
      limit,
    );
    const fail = (i: number) =>
      rows(
        'insert into webhook_health (webhook_id, failures, openings, open_until) values (?1, 9, 1, 0)',
        them.accountId + i,
      );
    await fail(limit + 1);
    expect(await (await ask('GET', '/portal', { cookie })).text()).not.toContain('is paused after');
    await fail(limit);
    expect(await (await ask('GET', '/portal', { cookie })).text()).toContain('is paused after');
  },
  'safety events of a connection in an hour that the overview counts': async (limit) => {
    const them = await world();
    await addEvents(them, limit + 1, 1);
    expect(await counted(them)).toMatchObject({ events: limit });
  },
  'vehicles, and drivers, whose events the overview counts in a day': async (limit) => {
    const them = await world();
    await addEvents(them, limit + 1, limit + 1);
    expect(await counted(them)).toEqual({ events: limit + 1, vehicles: limit, drivers: limit });
  },
};

/** Adds connections that are not healthy. */
const addAiling = ({ accountId }: World, from: number, count: number) =>
  rows(
    `insert into connections (id, account_id, provider, tsp, health_status, created_at, updated_at)
     with recursive n (i) as (select ?2 union all select i + 1 from n where i < ?2 + ?3 - 1)
     select ?1 || i, ?1, 'motive', 'Motive', 3, i, i from n`,
    accountId,
    from,
    count,
  );

/** Adds critical events of this hour, of so many vehicles and as many drivers. */
const addEvents = ({ accountId, connection }: World, count: number, vehicles: number) =>
  rows(
    `insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
       translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups, driver_id,
       created_at, updated_at)
     with recursive n (i) as (select 0 union all select i + 1 from n where i < ?3 - 1)
     select ?1 || i, ?1, ?2, i, 'Motive', '["x"]', '["Crash"]', 5, ?5, ?5, 'v' || (i % ?4), 'Truck', '[]', 'd' || (i % ?4),
       ?5, ?5 from n`,
    accountId,
    connection.id,
    count,
    vehicles,
    Math.floor(Date.now() / hourMs) * hourMs,
  );

/** What the last day of an account comes to. */
async function counted({ accountId }: World) {
  const db = openDatabase(env);
  await transaction(db, [...recountLive(db, accountId)]);
  const [day] = await rows(
    `select risk_5 as events, (select count(*) from json_each(vehicles)) as vehicles,
       (select count(*) from json_each(drivers)) as drivers
     from event_counts where account_id = ?1 and hours = 24 order by start desc limit 1`,
    accountId,
  );
  return day;
}
