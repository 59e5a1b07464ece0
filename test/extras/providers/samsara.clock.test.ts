import { mediaLink } from '#src/dev/fakes/media.ts';
import {
  fakeSamsara,
  type SamsaraData,
  samsaraEvent,
  samsaraVehicle,
} from '#src/dev/fakes/samsara.ts';
import { assess, vehicleOfEvent } from '#src/extras/providers/samsara/events.ts';
import { rows } from '#test/support.ts';
import { add, type Item, iso } from './fleets/fleet.ts';
import { samsara, samsaraOrigin } from './fleets/samsara.ts';
import { dismissed, keepEvidence, providerStory, reported } from './support.ts';

let provider: ReturnType<typeof samsara>;
let data: SamsaraData;
const tale = providerStory('samsara', () => data.token);
const {
  pulled,
  connected,
  arrived,
  levels,
  events,
  accidents,
  pullAll,
  pullRun,
  pullStatus,
  pullColumn,
  pullAfter,
} = tale;
beforeEach(() => {
  provider = samsara(tale.hooks);
  ({ data } = provider);
});
const [truck, other] = [samsaraVehicle(1), samsaraVehicle(2)];
const happens = (label: string, at = Date.now() + 1, more: Item = {}, vehicle = truck) =>
  add(data.events, samsaraEvent(vehicle, label, at, more));

it('dismisses a crash that has lost its label, though its id is two', async () => {
  await connected([1]);
  const id = `${crypto.randomUUID()},${crypto.randomUUID()}`;
  const crash = happens('Crash', undefined, { id });
  await pullAll();
  Object.assign(crash, { behaviorLabels: [], updatedAtTime: iso(Date.now() + 60_000) });
  await pulled(2);
  expect(levels(truck.vin)).toEqual(dismissed);
});

it('reads a crash again by when it began if nothing usable says when it was created', async () => {
  await connected([1]);
  const crash = happens('Crash', undefined, { createdAtTime: 'just now', asset: { id: truck.id } });
  await pullAll();
  Object.assign(crash, { createdAtTime: crash.startMs, asset: samsaraEvent(truck, '', 0).asset });
  await pullAfter(2);
  await arrived(1);
  expect(await tale.problems()).toEqual([]);
});

describe('the video of a crash', () => {
  const url = mediaLink(samsaraOrigin, 'road.mp4');
  const kept = [{ kind: 'video', camera: 'front', source: url }];
  const link = `https://media.example.com/${'a8Zq'.repeat(350)}`;
  const media = Array.from({ length: 4 }, () => ({ input: 'front', url: link }));
  beforeEach(keepEvidence);
  /** A crash has a report, the last of so many events. */
  function reportReady(events: number, at = Date.now() + 500_000) {
    for (let i = 1; i < events; i++) happens('Braking', at - i * 2000, { media }, other);
    const reviewed = { eventState: 'reviewed', media: [{ input: 'front', url }] };
    return happens('Crash', at, { id: 'x', ...reviewed });
  }
  /** Pulls with the next call answered alone, and all others with a status. */
  async function pullOne(status: number) {
    provider.calls.length = 0;
    provider.fault = () => (provider.calls.length > 1 ? new Response('', { status }) : undefined);
    await pullRun();
    await arrived(3);
    return provider.calls.filter(({ pathname }) => pathname === '/safety-events/stream').length;
  }

  it('comes with its report, in the same call', async () => {
    await connected([1]);
    const crash = reportReady(1);
    expect(await pullOne(503)).toBe(1);
    expect(await tale.evidence()).toEqual(kept);
    expect(await accidents()).toMatchObject([
      {
        reportUrl: crash.incidentReportUrl,
        vehicleName: truck.name,
        accelerationG: 0.61,
        detectedAt: crash.createdAtTime,
      },
    ]);
  });

  it.each([429, 500])(
    'is read later than its report, from a large page and after a %i',
    async (status) => {
      await connected([1]);
      reportReady(200);
      expect(await pullOne(status)).toBe(2);
      expect(levels(truck.vin)).toEqual(reported);
      expect(await tale.evidence()).toEqual([]);
      provider.fault = undefined;
      await pullAfter(5);
      expect(await tale.evidence()).toEqual(kept);
      expect(tale.hooks.got).toHaveLength(3);
      expect(await pullStatus()).toMatchObject({ refusals: [] });
      expect(String(await pullColumn('feeds'))).not.toContain('againAt');
    },
  );

  it('of history is read with a large page', async () => {
    reportReady(200, Date.now() - 20 * 86_400_000);
    await connected([], { historyDays: 30 });
    expect(await tale.evidence()).toEqual(kept);
  });
});

it.each([
  ['was dismissed', { eventState: 'dismissed', dismissalReason: { code: 'incorrect' } }, true],
  ['is a minor one', { eventState: 'dismissed', dismissalReason: { code: 'minorEvent' } }, null],
  ['is invalid', { behaviorLabels: [{ label: 'Braking' }, { label: 'Invalid' }] }, true],
])('says of an event that %s whether it is withdrawn', (_, more, withdrawn) => {
  expect(assess(samsaraEvent(truck, 'Braking', 0, more)).event).toMatchObject({ withdrawn });
});

it('finds the VIN of a crash and of its vehicle among external ids, too', () => {
  const asset = { id: truck.id, vin: '', externalIds: { 'samsara.vin': truck.vin } };
  const crash = samsaraEvent(truck, 'Crash', 0, { asset });
  expect([assess(crash).crash?.vin, vehicleOfEvent(crash).vin]).toEqual([truck.vin, truck.vin]);
});

it('does not let a crash wait behind the backlog of an outage', async () => {
  await connected([1]);
  const now = Date.now();
  await rows(
    'update pulls set connected_at = ?2 where connection_id = ?1',
    tale.id,
    now - 3_600_000,
  );
  for (let i = 1; i <= 100; i++)
    happens('Braking', now - 1_800_000 + i, { updatedAtTime: iso(now - 1000 + i) }, other);
  const crash = happens('Crash', now - 25_000, { updatedAtTime: iso(now + 60_000) }); // the last there is
  const pages: string[] = [];
  const serve = fakeSamsara(data, { perPage: 2 });
  tale.hooks.serves(samsaraOrigin, async (request) => {
    if (request.url.includes('/safety-events/')) pages.push(await (await serve(request)).text());
    return serve(request);
  });
  await pulled(1);
  const first = pages.findIndex((page) => page.includes(String(crash.id)));
  expect(first).toBeLessThan(8);
  expect(pages.length).toBeGreaterThan(50);
});

it.each([400, 404, 410, 422])(
  'starts again from the newest time when Samsara answers a cursor with %i',
  async (status) => {
    await connected();
    const newest = Date.now();
    happens('Braking', newest - 20_000);
    await pullAll();
    provider.calls.length = 0;
    provider.fault = ({ searchParams }) =>
      searchParams.get('after') ? new Response('Invalid cursor', { status }) : undefined;
    happens('HarshTurn', newest - 10_000);
    await pullRun();
    await pullRun();
    const starts = provider.calls
      .filter(({ pathname }) => pathname === '/safety-events/stream')
      .flatMap(({ searchParams }) =>
        searchParams.get('after') ? [] : searchParams.get('startTime'),
      );
    expect(starts).toEqual([iso(newest - 300_000)]);
    expect(await events()).toHaveLength(2);
  },
);

it('is not led astray by a time in the future', async () => {
  tale.hooks.serves(samsaraOrigin, async (request) => {
    const reply = await fakeSamsara(data, { perPage: 500 })(request);
    if (!request.url.includes('/safety-events/')) return reply;
    const { data: items } = await reply.json<{ data: unknown[] }>();
    return Response.json({ data: items, pagination: { hasNextPage: false } }); // no cursor goes on working
  });
  await connected();
  for (const [word, updatedAtTime] of [
    ['Braking', '2099-01-01T00:00:00Z'],
    ['HarshTurn', iso(Date.now())],
  ] as const) {
    happens(word, Date.now() + 1, { updatedAtTime });
    await pullAll();
  }
  expect(await events()).toMatchObject([
    { incidentTypes: ['Braking'] },
    { incidentTypes: ['HarshTurn'] },
  ]);
});
