import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { hourMs, minuteMs } from '#src/core/platform/durations.ts';
import { readTrends } from '#src/extras/trends/for-overview.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { spanOf } from '#src/extras/trends/pages/spans.ts';
import { addDays, rangeOfDays, startOfDay } from '#src/ui/time.tsx';
import { personBefore } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { driver, safetyEvent, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);
const { page } = personBefore(beforeEach, us);
beforeEach(() => void receiver());

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
/** What a reader sees of a part of a page, by its id. */
const textOf = async (id: string, path = '/portal') => (await page(path)).textAt(`#${id}`)[0];

it('events are counted when they come, late ones by a job, and lead to lists', async () => {
  const send = us.connector.send;
  await send(vehicle(), driver());
  const event = { vehicle: 'truck-1', driver: 'driver-1', incidentTypes: ['Speeding'] };
  await send(
    safetyEvent({ ...event, sourceId: 'now', startedAt: ago(0), eventRisk: 5 }),
    safetyEvent({ ...event, sourceId: 'late', startedAt: ago(26 * hourMs), eventRisk: 4 }),
  );
  expect(await textOf('safety-events-per-day-now')).toContain('1 in the last 30 days');
  await countEvents(env);
  expect(await textOf('safety-events-per-day-now')).toMatch(
    /2 in the last 30 days.*Risk 5 1 \+1 Risk 4 1 \+1 Risk 3 0 0/,
  );
  expect(await textOf('incident-types-now')).toMatch(/Speeding 2 \+2/);
  expect(await textOf('vehicles-with-the-most-events-now')).toMatch(/Truck 1 1 1 2/);
  expect(await textOf('drivers-with-the-most-events-now')).toMatch(/Ann 1 1 2/);
  expect(await textOf('latest-arrivals-now')).toMatch(/5 Speeding Truck 1 · Motive/);
  const leads = (await page('/portal')).links();
  const day = (before: number) => ago(before * 24 * hourMs).slice(0, 10);
  expect(leads).toContain(`/portal/events?from=${day(29)}&to=${day(0)}&type=Speeding`);
  expect(leads).toContain(`/portal/events?from=${day(0)}&to=${day(0)}&risk=4`);
  expect(leads.join()).toMatch(/events\?from=[\d-]+&to=[\d-]+&vehicle=[\da-f-]{36}&risk=4/);
});

it('a period is compared with as much time before', async () => {
  const send = us.connector.send;
  await send(vehicle());
  await send(
    ...[1, 8, 9, 40].map((days) =>
      safetyEvent({ sourceId: `e${days}`, vehicle: 'truck-1', startedAt: ago(days * 24 * hourMs) }),
    ),
  );
  await countEvents(env);
  for (const [path, words] of [
    ['/portal?days=1', '1 yesterday , none on the day before'],
    ['/portal?days=7', '1 in the last 7 days , 50% fewer than in the 7 days before'],
    ['/portal', '3 in the last 30 days , 200% more than in the 30 days before'],
    ['/portal?days=90', '4 in the last 90 days'],
  ])
    expect(await textOf('safety-events-per-day-now', path)).toContain(words);
});

const zonesThatChange = [
  'Australia/Adelaide',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Chatham',
];

it('each number is that of the list that it leads to, in every zone', async () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const today = ago(0).slice(0, 10);
  // Some are those on which clocks change, others long ago and lately.
  const changes = Array.from({ length: 170 }, (_, i) => -i).filter((day) => {
    const hours = (zone: string) =>
      startOfDay(zone, addDays(today, day + 1)) - startOfDay(zone, addDays(today, day));
    return zonesThatChange.some((zone) => hours(zone) !== 24 * hourMs);
  });
  const days = [-177, -176, -120, ...changes.flatMap((day) => [day, day + 1]), -9, -8, -2, -1];
  const edges = [-1, 0, 1, 14, 15, 29, 30, 44, 45, 59, 60].flatMap((n) => [
    n * minuteMs,
    n * minuteMs - 1,
  ]);
  const events = fc.sample(
    fc.record({
      zone: fc.constantFrom(...zones),
      day: fc.constantFrom(...days),
      edge: fc.constantFrom(...edges),
      eventRisk: fc.integer({ min: 1, max: 5 }),
      incidentType: fc.constantFrom('Speeding', 'Harsh Braking'),
    }),
    { numRuns: 500 },
  );
  const found = events.map(({ zone, day, edge, ...event }) => ({
    ...event,
    at: startOfDay(zone, addDays(today, day)) + edge,
  }));
  await us.send(vehicle());
  await us.send(
    ...found.map(({ at, eventRisk, incidentType }, i) =>
      safetyEvent({
        sourceId: `e${i}`,
        vehicle: 'truck-1',
        startedAt: new Date(at).toISOString(),
        ...{ eventRisk, incidentTypes: [incidentType] },
      }),
    ),
  );
  const due = () => rows('select 1 from event_counts_due where account_id = ?1', us.accountId);
  while ((await due()).length > 0) await countEvents(env);
  const caller = { accountId: us.accountId, operator: true } as const;
  // Zones whose days are the same are one.
  const spans = new Map(
    zones.map((zone) => {
      const span = spanOf(zone, today, 90);
      return [span.starts.join(), { zone, span }];
    }),
  );
  for (const { zone, span } of spans.values()) {
    const { days, types, vehicles } = await readTrends(env, caller, span);
    const listed = (from: string, to = from) => {
      const { range } = rangeOfDays(zone, from, to);
      const [since, before] = [Date.parse(String(range.from)), Date.parse(String(range.to))];
      return found.filter(({ at }) => at >= since && at < before);
    };
    const byRisk = Array.from({ length: 180 }, (_, day) => {
      const events = listed(addDays(today, day - 179));
      return {
        day,
        risks: [1, 2, 3, 4, 5].map((risk) => events.filter((one) => one.eventRisk === risk).length),
      };
    });
    expect([zone, days]).toEqual([
      zone,
      byRisk.filter(({ risks }) => risks.some((count) => count > 0)),
    ]);
    const shown = listed(addDays(today, -89), today);
    for (const { type, events } of types)
      expect([zone, events]).toEqual([
        zone,
        shown.filter((one) => one.incidentType === type).length,
      ]);
    const [{ risk4, risk5 } = { risk4: 0, risk5: 0 }] = vehicles;
    expect([zone, risk4 + risk5]).toEqual([zone, shown.filter((one) => one.eventRisk >= 4).length]);
  }
});
