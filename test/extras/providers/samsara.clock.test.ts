import { env } from 'cloudflare:workers';
import { mediaLink } from '#src/dev/fakes/media.ts';
import {
  fakeSamsara,
  type SamsaraData,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
} from '#src/dev/fakes/samsara.ts';
import { copyEvidence } from '#src/extras/evidence/copy.ts';
import {
  aheadBy,
  dismissed,
  providerStory,
  pullAll,
  pullColumn,
  pullRun,
  pullStatus,
  reported,
} from '#test/support/provider.ts';
import { iso } from '#test/support/providers/fleet.ts';
import { samsara } from '#test/support/providers/samsara.ts';
import { rows, value } from '#test/support/rows.ts';

let data: SamsaraData;
const tale = providerStory('samsara', () => data.token);
const { connected, arrived, levels, drivers, events, trips, accidents } = tale;
beforeEach(() => {
  ({ data } = samsara(tale.hooks, { perPage: 2 }));
  data.vehicles.push(samsaraVehicle(3));
});
const [truck, other] = [samsaraVehicle(1), samsaraVehicle(2)];

it('takes in all there is, page by page, as customers know it', async () => {
  data.drivers.push(samsaraDriver(1), samsaraDriver(2, { driverActivationStatus: 'deactivated' }));
  const before = Date.now() - 3 * 86_400_000;
  data.events.push(samsaraEvent(truck, 'Speeding', before));
  data.trips.push(samsaraTrip(truck, before));
  const id = await connected([], { historyDays: 30 });
  const vehicles = await tale.vehicles(id);
  expect(vehicles).toHaveLength(3);
  expect(vehicles.find(({ name }) => name === 'Truck 1')).toMatchObject({
    vin: '1FUJGLDR5CL100001',
    make: 'Freightliner',
    year: 2022,
    licensePlate: 'PLT-1',
    groups: ['North'],
    status: 'active',
  });
  expect((await drivers(id)).map(({ name, status }) => [name, status]).sort()).toEqual([
    ['Robin Reyes 1', 1],
    ['Robin Reyes 2', 0],
  ]);
  expect(await events(id)).toMatchObject([
    {
      translatedIncidentTypes: ['Speeding'],
      vehicleName: 'Truck 1',
      location: { address: '1437 Bannock Street, Denver, Colorado' },
    },
  ]);
  expect(await trips(id)).toHaveLength(1);
});

it('raises a crash as Samsara confirms it, and dismisses what was none', async () => {
  const id = await connected([1]);
  await rows(
    'insert or replace into evidence_days (account_id, days, since) select id, 30, 0 from accounts',
  );
  const unlabelled = samsaraVehicle(3);
  const crash = samsaraEvent(truck, 'Crash', Date.now() + 1);
  const alarm = samsaraEvent(other, 'Crash', Date.now() + 1);
  const none = samsaraEvent(unlabelled, 'Crash', Date.now() + 1);
  data.events.push(crash, alarm, none);
  await pullAll(id);
  const change = (event: object, more: object, ms = 60_000) =>
    Object.assign(event, more, { updatedAtTime: iso(Date.now() + ms) });
  change(crash, { eventState: 'reviewed' });
  change(alarm, { eventState: 'dismissed', dismissalReason: { code: 'incorrect' } });
  change(none, { behaviorLabels: [] });
  await pullAll(id);
  const url = mediaLink('https://api.samsara.com', 'road.mp4');
  change(crash, { media: [{ input: 'front', url }] }, 90_000);
  await pullAll(id);
  await arrived(7);
  expect(levels(truck.vin)).toEqual(reported);
  for (const { vin } of [other, unlabelled]) expect(levels(vin)).toEqual(dismissed);
  const listed = await accidents(id);
  expect(listed.map(({ dismissed }) => dismissed).sort()).toEqual([false, true, true]);
  expect(listed.find(({ vin }) => vin === truck.vin)).toMatchObject({
    reportUrl: crash.incidentReportUrl,
    vehicleName: truck.name,
    accelerationG: crash.maxAccelerationGForce,
    detectedAt: expect.any(String),
  });
  expect(await rows('select kind, camera, source from evidence')).toEqual([
    { kind: 'video', camera: 'front', source: url },
  ]);
  await copyEvidence(env, await value('select account_id from evidence'));
  const kept = await rows('select state, content_type from evidence');
  expect(kept).toEqual([{ state: 'stored', content_type: 'video/mp4' }]);
});

describe('the video of a crash', () => {
  const url = mediaLink('https://api.samsara.com', 'road.mp4');
  const evidence = (id: string) => rows('select source from evidence where connection_id = ?1', id);
  const link = `https://media.example.com/${'a8Zq'.repeat(350)}`;
  const media = Array.from({ length: 4 }, () => ({ input: 'front', url: link }));
  /** A connection of an account that keeps evidence, and a crash whose report is ready, the last of so many events. */
  async function reportReady(events: number, at = Date.now() + 500_000) {
    tale.hooks.serves('https://api.samsara.com', fakeSamsara(data, { perPage: 400 }));
    await rows(
      'insert or replace into evidence_days (account_id, days, since) select id, 30, 0 from accounts',
    );
    for (let i = 1; i < events; i++)
      data.events.push(samsaraEvent(other, 'Braking', at - i * 2000, { media }));
    const reviewed = { eventState: 'reviewed', media: [{ input: 'front', url }] };
    data.events.push(samsaraEvent(truck, 'Crash', at, { id: 'x', ...reviewed }));
  }
  /** Answers the next call alone, and all others with a status. Returns those for events. */
  function refuseOthers(status: number) {
    const serve = fakeSamsara(data, { perPage: 400 });
    const calls: string[] = [];
    tale.hooks.serves('https://api.samsara.com', (request) => {
      if (request.url.includes('/safety-events')) calls.push(request.url);
      return calls.length === 1 ? serve(request) : new Response('', { status });
    });
    return calls;
  }

  it('comes with its report, in the same call', async () => {
    const id = await connected([1]);
    await reportReady(1);
    const calls = refuseOthers(503);
    await pullRun(id);
    await arrived(3);
    expect(await evidence(id)).toEqual([{ source: url }]);
    expect(calls).toHaveLength(1);
  });

  it.each([429, 500])(
    'is read later than its report, from a large page and after a %i',
    async (status) => {
      const id = await connected([1]);
      await reportReady(200);
      const calls = refuseOthers(status);
      await pullRun(id);
      await arrived(3);
      expect(levels(truck.vin)).toEqual(reported);
      expect([calls.length, await evidence(id)]).toEqual([2, []]);
      tale.hooks.serves('https://api.samsara.com', fakeSamsara(data, { perPage: 400 }));
      aheadBy(5);
      await pullAll(id);
      expect(await evidence(id)).toEqual([{ source: url }]);
      expect(tale.hooks.got).toHaveLength(3);
      expect(await pullStatus(id)).toMatchObject({ refusals: [] });
      expect(String(await pullColumn(id, 'feeds'))).not.toContain('againAt');
    },
  );

  it('of history is read with a large page', async () => {
    await reportReady(200, Date.now() - 20 * 86_400_000);
    const id = await connected([], { historyDays: 30 });
    expect(await evidence(id)).toEqual([{ source: url }]);
  });
});

it('withdraws an event that was dismissed or marked as invalid, unless as a minor one', async () => {
  const id = await connected([1]);
  const soon = Date.now() + 1;
  const [wrong, minor, invalid] = [1, 2, 3].map((i) => {
    const event = samsaraEvent(truck, 'Braking', soon + i);
    data.events.push(event);
    return event;
  });
  await pullAll(id);
  const change = (event: object | undefined, more: object) =>
    Object.assign(event ?? {}, more, { updatedAtTime: iso(Date.now() + 60_000) });
  change(wrong, { eventState: 'dismissed', dismissalReason: { code: 'incorrect' } });
  change(minor, { eventState: 'dismissed', dismissalReason: { code: 'minorEvent' } });
  change(invalid, { behaviorLabels: [{ label: 'Braking' }, { label: 'Invalid' }] });
  await pullAll(id);
  expect((await events(id)).map(({ withdrawn }) => withdrawn).sort()).toEqual([null, true, true]);
});

it('does not let a crash wait behind the backlog of an outage', async () => {
  const id = await connected([1]);
  const now = Date.now();
  await rows('update pulls set connected_at = ?2 where connection_id = ?1', id, now - 3_600_000);
  for (let i = 1; i <= 100; i++)
    data.events.push(
      samsaraEvent(other, 'Braking', now - 1_800_000 + i, { updatedAtTime: iso(now - 1000 + i) }),
    );
  const crash = samsaraEvent(truck, 'Crash', now - 25_000, { updatedAtTime: iso(now + 60_000) }); // the last there is
  data.events.push(crash);
  const pages: string[] = [];
  const serve = fakeSamsara(data, { perPage: 2 });
  tale.hooks.serves('https://api.samsara.com', async (request) => {
    if (request.url.includes('/safety-events/')) pages.push(await (await serve(request)).text());
    return serve(request);
  });
  await pullAll(id);
  await arrived(1);
  const first = pages.findIndex((page) => page.includes(String(crash.id)));
  expect(first).toBeLessThan(8);
  expect(pages.length).toBeGreaterThan(50);
});

it.each([400, 404])(
  'starts again from the newest time when Samsara answers a cursor with %i',
  async (status) => {
    const id = await connected();
    const newest = Date.now();
    data.events.push(samsaraEvent(truck, 'Braking', newest - 20_000));
    await pullAll(id);
    const serve = fakeSamsara(data);
    const starts: unknown[] = [];
    tale.hooks.serves('https://api.samsara.com', (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname !== '/safety-events/stream') return serve(request);
      if (searchParams.get('after'))
        return Response.json({ message: 'Invalid cursor' }, { status });
      starts.push(searchParams.get('startTime'));
      return serve(request);
    });
    data.events.push(samsaraEvent(truck, 'HarshTurn', newest - 10_000));
    await pullRun(id);
    await pullRun(id);
    expect(starts).toEqual([iso(newest - 300_000)]);
    expect(await events(id)).toHaveLength(2);
  },
);

it('is not led astray by a time in the future', async () => {
  tale.hooks.serves('https://api.samsara.com', async (request) => {
    const reply = await fakeSamsara(data, { perPage: 500 })(request);
    if (!request.url.includes('/safety-events/')) return reply;
    const { data: items } = await reply.json<{ data: unknown[] }>();
    return Response.json({ data: items, pagination: { hasNextPage: false } }); // no cursor goes on working
  });
  const id = await connected();
  for (const [word, updatedAtTime] of [
    ['Braking', '2099-01-01T00:00:00Z'],
    ['HarshTurn', iso(Date.now())],
  ] as const) {
    data.events.push(samsaraEvent(truck, word, Date.now() + 1, { updatedAtTime }));
    await pullAll(id);
  }
  expect(await events(id)).toMatchObject([
    { incidentTypes: ['Braking'] },
    { incidentTypes: ['HarshTurn'] },
  ]);
});
