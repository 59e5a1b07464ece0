import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { newBudget, within } from '#src/core/platform/jobs/budget.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { recountLive } from '#src/extras/trends/recount.ts';
import { jobs } from '#src/operator/jobs.ts';
import {
  addRow,
  addRows,
  ago,
  dayMs,
  driver,
  hourMs,
  listenToLog,
  openDatabase,
  operator,
  ownRows,
  rows,
  runs,
  safetyEvent,
  times,
  toTheEnd,
  transaction,
  value,
  vehicle,
  world,
  worldBefore,
} from '#test/support.ts';

const two = ['motive', 'samsara'];
const us = worldBefore(beforeEach, ...two);

const types = ['Speeding', 'Harsh Braking', 'Tailgating'];

/** An event, by how many hours ago it began: now, lately, or long ago. */
const event = fc.record({
  n: fc.nat(15),
  hoursAgo: fc.oneof(
    fc.constant(0),
    fc.double({ min: -0.9, max: 2, noNaN: true }),
    fc.constantFrom(5, 23, 24, 30, 47, 2000),
  ),
  eventRisk: fc.integer({ min: 1, max: 5 }),
  incidentTypes: fc.constantFrom(...types.flatMap((type) => [[type], [type, 'Phone Usage']])),
  vehicle: fc.constantFrom('v0', 'v1', 'v2', 'v3'),
  driver: fc.constantFrom('d0', 'd1', 'd2', undefined),
});

const call = fc.record({ call: fc.array(event, { minLength: 1, maxLength: 6 }), by: fc.nat(1) });

/** What may happen besides. */
const others: { [what: string]: () => unknown } = {
  look: () => look(),
  job: () => work(),
  gap: () => rows('update event_counting set counted_to = (unixepoch() / 3600 - 30) * 3600000'),
  async erasure() {
    const [driver] = await ownRows(us, 'drivers');
    if (!driver) return;
    await operator.post(`/operator/drivers/${driver.id}/erasure`, {});
    await toTheEnd(String(driver.id));
  },
  deletion: () =>
    rows(
      'delete from safety_events where id in (select id from safety_events where account_id = ?1 limit 2)',
      us.accountId,
    ),
};
const other = fc.constantFrom(...Object.keys(others), 'look', 'look', 'job');
const step = fc.oneof({ weight: 8, arbitrary: call }, { weight: 8, arbitrary: other });

const recordOf = ({ n, hoursAgo, ...event }: { n: number; hoursAgo: number; vehicle: string }) =>
  safetyEvent({ ...event, sourceId: `e${n}`, startedAt: ago(hoursAgo * hourMs) });

const recount = () => {
  const db = openDatabase(env);
  return transaction(db, [...recountLive(db, us.accountId)]);
};
/** Somebody looks who has not looked for a while. */
const look = async () => {
  await rows('update event_counting set live_at = 0 where account_id = ?1', us.accountId);
  return recount();
};

const due = () => ownRows(us, 'event_counts_due');

/** The job runs after a while. */
const work = async () => {
  await rows('update event_counting set live_at = 0');
  await countEvents(env);
};

/** What the counts say: how often there is what in which span. */
async function counted(hours: 1 | 24) {
  const found = await rows(
    `select start || replace(fullkey, '"', '') || ': ' || atom as count
     from event_counts, json_tree(json_object(
       'risks', json_array(risk_1, risk_2, risk_3, risk_4, risk_5),
       'types', json(types), 'vehicles', json(vehicles), 'drivers', json(drivers)))
     where account_id = ?1 and hours = ?2 and atom > 0`,
    us.accountId,
    hours,
  );
  return found.map(({ count }) => count).sort();
}

/** The same, counted plainly. */
async function expected(hours: 1 | 24) {
  const events = await ownRows(us, 'safety_events');
  const places = events.flatMap((event) => {
    const start = Math.floor(Number(event.started_at) / (hours * hourMs)) * hours;
    const risk = Number(event.event_risk);
    const types: string[] = JSON.parse(String(event.translated_incident_types));
    const named = Object.entries({ vehicles: event.vehicle_id, drivers: event.driver_id });
    return [
      `${start}$.risks[${risk - 1}]`,
      ...types.map((type) => `${start}$.types.${type}`),
      ...named
        .filter(([, id]) => risk >= 4 && id !== null)
        .map(([list, id]) => `${start}$.${list}.${id}[${risk - 4}]`),
    ];
  });
  const all = Object.entries(Object.groupBy(places, (place) => place));
  return all.map(([place, same]) => `${place}: ${same?.length}`).sort();
}

it('counts are those of a plain recount, whatever comes in, is corrected, moves or goes', {
  tags: ['proof'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      Object.assign(us, await world(...two));
      for (const { send } of us.connections)
        await send(
          ...[0, 1, 2, 3].map((n) => vehicle({ sourceId: `v${n}` })),
          ...[0, 1, 2].map((n) => driver({ sourceId: `d${n}` })),
        );
      for (const step of steps) {
        if (typeof step === 'string') {
          await others[step]?.();
          continue;
        }
        const sent = await us.connections[step.by]?.send(...step.call.map(recordOf));
        expect(sent?.data.rejected).toEqual([]);
      }
      for (let times = 0; times < 9; times++) await work();
      await look();
      for (const hours of [1, 24] as const)
        expect(await counted(hours)).toEqual(await expected(hours));
      expect(await due()).toEqual([]);
    }),
    { numRuns: runs(30) },
  );
});

it('what has just been counted is not counted again, however many look', async () => {
  const send = (n: number) =>
    us.send(vehicle({ sourceId: 'v0' }), recordOf({ n, hoursAgo: 0, vehicle: 'v0' }));
  await send(1);
  await recount();
  const before = await counted(1);
  await send(2);
  await Promise.all([recount(), recount()]);
  expect(await counted(1)).toEqual(before);
  await look();
  expect(await counted(1)).toEqual(await expected(1));
  expect(await counted(1)).not.toEqual(before);
});

it('a day is counted before it moves to the archive, and keeps its counts there', async () => {
  const startedAt = ago(40 * dayMs);
  await us.send(vehicle(), safetyEvent({ startedAt }));
  const hot = () => ownRows(us, 'safety_events');
  const archive = () => jobs.archive?.run(env, Date.now(), newBudget());
  await archive();
  expect(await hot()).toHaveLength(1);
  await countEvents(env);
  const before = await counted(24);
  expect(before.length).toBeGreaterThan(0);
  await archive();
  expect(await hot()).toEqual([]);
  expect(await due()).toEqual([]);
  await us.send(safetyEvent({ sourceId: 'late', startedAt }));
  expect(await due()).toHaveLength(1);
  await countEvents(env); // D1 alone does not have the whole day any more
  expect(await counted(24)).toEqual(before);
  expect(await due()).toEqual([]);
});

it('the newest of what is marked is counted first', async () => {
  await us.send(
    vehicle(),
    ...times(60, (i) => safetyEvent({ sourceId: `e${i}`, startedAt: ago((i + 2) * dayMs) })),
  );
  const budget = newBudget({ queries: 60 });
  await countEvents(within(env, budget), Date.now(), budget);
  const [found, all] = [await counted(24), await expected(24)];
  expect(found.length).toBeLessThan(all.length);
  expect(found).toEqual(all.slice(-found.length));
  await countEvents(env);
  expect(await counted(24)).toEqual(all);
});

const addAccounts = (...ids: string[]) => addRows('accounts', ids.length, (i) => ({ id: ids[i] }));

it('an account is counted soon, however many others have more than can be counted', async () => {
  const mark = (accountId: string, days: number) =>
    addRows('event_counts_due', days, (i) => ({ account_id: accountId, day: i, hours: 1 }));
  const others = times(20, (account) => `a${account}`);
  for (const account of others) await mark(account, 60);
  await mark('last', 1);
  await addAccounts(...others, 'last');
  const budget = newBudget({ queries: 150 });
  await countEvents(within(env, budget), Date.now(), budget);
  expect(await value('select count(*) from event_counts_due')).toBeGreaterThan(1000);
  expect(await rows(`select * from event_counts_due where account_id = 'last'`)).toEqual([]);
});

it('an account that cannot be counted holds up no other, and is tried again', async () => {
  const marks = () => rows('select account_id as id from event_counts_due order by 1');
  await rows('delete from event_counts_due');
  await addAccounts('broken', 'sound');
  for (const id of ['broken', 'sound'])
    await addRow('event_counts_due', { account_id: id, day: 0, hours: 1 });
  await rows(`create trigger broken before delete on event_counts_due when old.account_id = 'broken'
    begin select raise(abort, 'broken'); end`);
  const log = listenToLog();
  await countEvents(env);
  expect(await marks()).toEqual([{ id: 'broken' }]);
  expect(log.lines('fault')).toMatchObject([{ job: 'trends', accountId: 'broken' }]);
  await rows('drop trigger broken');
  await countEvents(env);
  expect(await marks()).toEqual([]);
});
