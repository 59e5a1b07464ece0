import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { readTrends } from '#src/extras/trends/for-overview.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { spanOf } from '#src/extras/trends/pages/spans.ts';
import { addDays, rangeOfDays, startOfDay } from '#src/ui/time.tsx';
import {
  ago,
  dayMs,
  driver,
  hourMs,
  minuteMs,
  ownRows,
  personBefore,
  safetyEvent,
  times,
  vehicle,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);
const { page } = personBefore(beforeEach, us);

/** What a reader sees of a part of a page, by its id. */
const textOf = async (id: string, path = '/portal') => (await page(path)).textAt(`#${id}`)[0];

it('events are counted when they come, late ones by a job, and lead to lists', async () => {
  const event = { driver: 'driver-1', incidentTypes: ['Speeding'] };
  await us.send(
    vehicle(),
    driver(),
    safetyEvent({ ...event, startedAt: ago(0), eventRisk: 5 }),
    safetyEvent({ ...event, sourceId: 'late', startedAt: ago(26 * hourMs), eventRisk: 4 }),
  );
  expect(await textOf('safety-events-per-day-now')).toContain('1 in the last 30 days');
  await countEvents(env);
  for (const [id, words] of [
    ['safety-events-per-day-now', /2 in the last 30 days.*Risk 5 1 \+1 Risk 4 1 \+1 Risk 3 0 0/],
    ['incident-types-now', /Speeding 2 \+2/],
    ['vehicles-with-the-most-events-now', /Truck 1 1 1 2/],
    ['drivers-with-the-most-events-now', /Ann 1 1 2/],
    ['latest-arrivals-now', /5 Speeding Truck 1 · Motive/],
  ] as const)
    expect(await textOf(id)).toMatch(words);
  const links = (await page('/portal')).links();
  const day = (before: number) => ago(before * dayMs).slice(0, 10);
  expect(links).toContain(`/portal/events?from=${day(29)}&to=${day(0)}&type=Speeding`);
  expect(links).toContain(`/portal/events?from=${day(0)}&to=${day(0)}&risk=4`);
  expect(links.join()).toMatch(/events\?from=[\d-]+&to=[\d-]+&vehicle=[\da-f-]{36}&risk=4/);
});

it('a period is compared with as much time before', async () => {
  const days = [1, 8, 9, 40];
  await us.send(
    vehicle(),
    ...days.map((n) => safetyEvent({ sourceId: `e${n}`, startedAt: ago(n * dayMs) })),
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

it('each number is that of the list that it leads to, in every zone', {
  tags: ['proof'],
}, async () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const today = ago(0).slice(0, 10);
  // Some are those on which clocks change, others long ago and lately.
  const changes = times(170, (i) => -i).filter((day) => {
    const hours = (zone: string) =>
      startOfDay(zone, addDays(today, day + 1)) - startOfDay(zone, addDays(today, day));
    return zonesThatChange.some((zone) => hours(zone) !== 24 * hourMs);
  });
  const days = [-177, -176, -120, ...changes.flatMap((day) => [day, day + 1]), -9, -8, -2, -1];
  const edges = [-1, 0, 1, 14, 15, 29, 30, 44, 45, 59, 60].flatMap((n) => [
    n * minuteMs,
    n * minuteMs - 1,
  ]);
  const found = fc
    .sample(
      fc.record({
        zone: fc.constantFrom(...zones),
        day: fc.constantFrom(...days),
        edge: fc.constantFrom(...edges),
        eventRisk: fc.integer({ min: 1, max: 5 }),
        type: fc.constantFrom('Speeding', 'Harsh Braking'),
      }),
      { numRuns: 500 },
    )
    .map(({ zone, day, edge, ...event }) => ({
      ...event,
      at: startOfDay(zone, addDays(today, day)) + edge,
    }));
  await us.send(vehicle());
  await us.send(
    ...found.map(({ at, eventRisk, type }, i) => {
      const startedAt = new Date(at).toISOString();
      return safetyEvent({ sourceId: `e${i}`, startedAt, eventRisk, incidentTypes: [type] });
    }),
  );
  while ((await ownRows(us, 'event_counts_due')).length > 0) await countEvents(env);
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
    const byRisk = times(180, (day) => {
      const events = listed(addDays(today, day - 179));
      const counts = [1, 2, 3, 4, 5].map((risk) => events.filter((one) => one.eventRisk === risk));
      return { day, risks: counts.map(({ length }) => length) };
    });
    const shown = listed(addDays(today, -89), today);
    const severe = vehicles.reduce((sum, { risk4, risk5 }) => sum + risk4 + risk5, 0);
    expect({
      zone,
      days,
      severe,
      types: types.toSorted((a, b) => (a.type < b.type ? -1 : 1)),
    }).toEqual({
      zone,
      days: byRisk.filter(({ risks }) => risks.some((count) => count > 0)),
      severe: shown.filter((one) => one.eventRisk >= 4).length,
      types: ['Harsh Braking', 'Speeding'].map((type) =>
        expect.objectContaining({ type, events: shown.filter((one) => one.type === type).length }),
      ),
    });
  }
});
