import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { transaction } from '#src/core/platform/db/database.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { hourMs } from '#src/core/platform/durations.ts';
import { newBudget, within } from '#src/core/platform/jobs/budget.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { recountLive } from '#src/extras/trends/recount.ts';
import { jobs } from '#src/operator/jobs.ts';
import { listenToLog } from '#test/support/log.ts';
import { driver, safetyEvent, vehicle } from '#test/support/records.ts';
import { addRows, rows, value } from '#test/support/rows.ts';
import { runs } from '#test/support/runs.ts';
import { as, operator, type World, world } from '#test/support/world.ts';

const types = ['Speeding', 'Harsh Braking', 'Tailgating'];

/** An event, by how many hours ago it began: now, lately, or long ago. */
const event = fc.record({
  n: fc.nat(15),
  hoursAgo: fc.oneof(
    fc.constant(0),
    fc.double({ min: -0.9, max: 2, noNaN: true }),
    fc.constantFrom(5, 23, 24, 30, 47, 2000),
  ),
  risk: fc.integer({ min: 1, max: 5 }),
  type: fc.nat(2),
  second: fc.boolean(),
  vehicle: fc.nat(3),
  driver: fc.option(fc.nat(2), { nil: undefined }),
});
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ call: fc.array(event, { minLength: 1, maxLength: 6 }), by: fc.nat(1) }),
  },
  { weight: 3, arbitrary: fc.constant('look' as const) },
  { weight: 2, arbitrary: fc.constant('job' as const) },
  { weight: 1, arbitrary: fc.constant('erase a driver' as const) },
  { weight: 1, arbitrary: fc.constant('delete events' as const) },
  { weight: 1, arbitrary: fc.constant('a gap' as const) },
);

const recordOf = ({ n, hoursAgo, risk, type, second, vehicle, driver }: Event) =>
  safetyEvent({
    sourceId: `e${n}`,
    startedAt: new Date(Date.now() - hoursAgo * hourMs).toISOString(),
    eventRisk: risk,
    incidentTypes: [types[type], ...(second ? ['Phone Usage'] : [])],
    vehicle: `v${vehicle}`,
    ...(driver !== undefined && { driver: `d${driver}` }),
  });

const recount = (us: World) => {
  const db = openDatabase(env);
  return transaction(db, [...recountLive(db, us.accountId)]);
};
/** Somebody looks who has not looked for a while. */
const look = async (us: World) => {
  await rows('update event_counting set live_at = 0 where account_id = ?1', us.accountId);
  return recount(us);
};

/** The job runs after a while. */
const work = async () => {
  await rows('update event_counting set live_at = 0');
  await countEvents(env);
};

/** What the counts say, without what is empty. */
const counted = async (us: World, hours: 1 | 24) =>
  (
    await rows(
      `select start, json_array(risk_1, risk_2, risk_3, risk_4, risk_5) as risks, types, vehicles, drivers
       from event_counts where account_id = ?1 and hours = ?2 and risk_1 + risk_2 + risk_3 + risk_4 + risk_5 > 0
       order by start`,
      us.accountId,
      hours,
    )
  ).map(({ start, ...counts }) => [
    start,
    ...Object.values(counts).map((json) => JSON.parse(String(json))),
  ]);

/** The same, counted plainly. */
async function expected(us: World, hours: 1 | 24) {
  const spans = new Map<
    number,
    { risks: number[]; types: Tally; vehicles: Named; drivers: Named }
  >();
  for (const event of await rows(
    'select * from safety_events where account_id = ?1',
    us.accountId,
  )) {
    const start = Math.floor(Number(event.started_at) / (hours * hourMs)) * hours;
    const span = spans.get(start) ?? {
      risks: [0, 0, 0, 0, 0],
      types: {},
      vehicles: {},
      drivers: {},
    };
    spans.set(start, span);
    const risk = Number(event.event_risk);
    span.risks[risk - 1] = (span.risks[risk - 1] ?? 0) + 1;
    for (const type of JSON.parse(String(event.translated_incident_types)))
      span.types[type] = (span.types[type] ?? 0) + 1;
    for (const [of, id] of [
      [span.vehicles, event.vehicle_id],
      [span.drivers, event.driver_id],
    ] as const) {
      if (risk < 4 || id === null) continue;
      const [four, five] = of[String(id)] ?? [0, 0];
      of[String(id)] = [four + (risk === 4 ? 1 : 0), five + (risk === 5 ? 1 : 0)];
    }
  }
  return [...spans]
    .sort(([a], [b]) => a - b)
    .map(([start, { risks, types, vehicles, drivers }]) => [
      start,
      risks,
      types,
      vehicles,
      drivers,
    ]);
}
type Tally = Record<string, number>;
type Named = Record<string, [number, number]>;

it('counts are those of a plain recount, whatever comes in, is corrected, moves or goes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const us = await world({ providers: ['motive', 'samsara'] });
      for (const { ingestKey } of us.connections)
        await as(ingestKey).send(
          ...[0, 1, 2, 3].map((n) => vehicle({ sourceId: `v${n}` })),
          ...[0, 1, 2].map((n) => driver({ sourceId: `d${n}` })),
        );
      for (const step of steps) {
        if (typeof step === 'object') {
          const reply = await as(us.connections[step.by]?.ingestKey ?? '').send(
            ...step.call.map(recordOf),
          );
          expect(reply.data.rejected).toEqual([]);
        } else if (step === 'look') await look(us);
        else if (step === 'job') await work();
        else if (step === 'a gap')
          await rows('update event_counting set counted_to = (unixepoch() / 3600 - 30) * 3600000');
        else if (step === 'erase a driver') {
          const [one] = await rows(
            'select id from drivers where account_id = ?1 limit 1',
            us.accountId,
          );
          if (one) await operator.delete(`/operator/accounts/${us.accountId}/drivers/${one.id}`);
        } else
          await rows(
            'delete from safety_events where id in (select id from safety_events where account_id = ?1 limit 2)',
            us.accountId,
          );
      }
      for (let times = 0; times < 9; times++) await work();
      await look(us);
      for (const hours of [1, 24] as const)
        expect(await counted(us, hours)).toEqual(await expected(us, hours));
      expect(
        await rows('select * from event_counts_due where account_id = ?1', us.accountId),
      ).toEqual([]);
    }),
    { numRuns: runs(30) },
  );
});

it('what has just been counted is not counted again, however many look', async () => {
  const us = await world();
  const send = (n: number) =>
    us.send(
      vehicle({ sourceId: 'v0' }),
      recordOf({ n, hoursAgo: 0, risk: 2, type: 0, second: false, vehicle: 0, driver: undefined }),
    );
  await send(1);
  await recount(us);
  const before = await counted(us, 1);
  expect(before).toHaveLength(1);
  await send(2);
  await Promise.all([recount(us), recount(us)]);
  expect(await counted(us, 1)).toEqual(before);
  await look(us);
  expect(await counted(us, 1)).toEqual(await expected(us, 1));
  expect(await counted(us, 1)).not.toEqual(before);
});

it('a day is counted before it moves to the archive, and keeps its counts there', async () => {
  const us = await world();
  const startedAt = new Date(Date.now() - 40 * 24 * hourMs).toISOString();
  await us.send(
    vehicle({ sourceId: 'v0' }),
    safetyEvent({ sourceId: 'e', vehicle: 'v0', startedAt }),
  );
  const hot = () => rows('select 1 from safety_events where account_id = ?1', us.accountId);
  const archive = () => jobs.archive?.run(env, Date.now(), newBudget());
  await archive();
  expect(await hot()).toHaveLength(1);
  await countEvents(env);
  const before = await counted(us, 24);
  expect(before).toHaveLength(1);
  await archive();
  expect(await hot()).toEqual([]);
  const due = () => rows('select * from event_counts_due where account_id = ?1', us.accountId);
  expect(await due()).toEqual([]);
  await us.send(safetyEvent({ sourceId: 'late', vehicle: 'v0', startedAt }));
  expect(await due()).toHaveLength(1);
  await countEvents(env); // D1 alone does not have the whole day any more
  expect(await counted(us, 24)).toEqual(before);
  expect(await due()).toEqual([]);
});

it('the newest of what is marked is counted first', async () => {
  const us = await world();
  await us.send(
    vehicle({ sourceId: 'v0' }),
    ...Array.from({ length: 60 }, (_, i) =>
      safetyEvent({
        sourceId: `e${i}`,
        vehicle: 'v0',
        startedAt: new Date(Date.now() - (i + 2) * 24 * hourMs).toISOString(),
      }),
    ),
  );
  const budget = newBudget({ queries: 60 });
  await countEvents(within(env, budget), Date.now(), budget);
  const found = await counted(us, 24);
  expect(found.length).toBeLessThan(60);
  expect(found.at(-1)).toEqual((await expected(us, 24)).at(-1));
  await countEvents(env);
  expect(await counted(us, 24)).toEqual(await expected(us, 24));
});

const addAccounts = (...ids: string[]) => addRows('accounts', ids.length, (i) => ({ id: ids[i] }));

it('an account is counted soon, however many others have more than can be counted', async () => {
  const mark = (accountId: string, days: number) =>
    addRows('event_counts_due', days, (i) => ({ account_id: accountId, day: i, hours: 1 }));
  for (let account = 0; account < 20; account++) await mark(`a${account}`, 60);
  await mark('last', 1);
  await addAccounts(...Array.from({ length: 20 }, (_, account) => `a${account}`), 'last');
  const budget = newBudget({ queries: 150 });
  await countEvents(within(env, budget), Date.now(), budget);
  expect(await value('select count(*) from event_counts_due')).toBeGreaterThan(1000);
  expect(await rows(`select * from event_counts_due where account_id = 'last'`)).toEqual([]);
});

it('an account that cannot be counted holds up no other, and is tried again', async () => {
  const marks = () => rows('select account_id as id from event_counts_due order by 1');
  await rows('delete from event_counts_due');
  await addAccounts('broken', 'sound');
  await addRows('event_counts_due', 2, (i) => ({
    account_id: ['broken', 'sound'][i],
    day: 0,
    hours: 1,
  }));
  await rows(`create trigger broken before delete on event_counts_due when old.account_id = 'broken'
    begin select raise(abort, 'broken'); end`);
  const log = listenToLog();
  await countEvents(env);
  expect(await marks()).toEqual([{ id: 'broken' }]);
  expect(log.lines('fault')).toMatchObject([
    { message: 'A job failed', job: 'trends', accountId: 'broken' },
  ]);
  await rows('drop trigger broken');
  await countEvents(env);
  expect(await marks()).toEqual([]);
});
