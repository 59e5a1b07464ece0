import { maxReplyBytes } from '#src/extras/providers/connector/call.ts';
import { at } from '#src/extras/providers/connector/read.ts';
import {
  fakeMotive,
  motiveData,
  motiveEvent,
  motiveFleet,
  motiveVehicle,
} from '#test/extras/providers/fleets/motive.ts';
import { terminalFleet, terminalRaw } from '#test/extras/providers/fleets/terminal.ts';
import { providerStory, pullAll, pullStatus, refusalsOf } from '#test/support/provider.ts';
import { type Fleet, type Item, soon } from '#test/support/providers/fleet.ts';
import { geotabFleet } from '#test/support/providers/geotab.ts';
import { samsaraFleet } from '#test/support/providers/samsara.ts';

const link = (length = 1_400) => `https://media.example.com/${'a8Zq'.repeat(length / 4)}`;
const series = (length: number) => Array.from({ length }, (_, n) => 36.1627 + n / 1e6);

/** So many events of a vehicle, the last of which that a page has is a crash. */
function large(fleet: Fleet, count: number, more: Item, crash = count - 1, everyMs = 1) {
  const [vehicle, at] = [fleet.vehicle(1), soon()];
  for (let n = 0; n < count; n++) fleet.event(vehicle, n, at + n * everyMs, n === crash, more);
  return { ...fleet, count };
}

const motive = (more: Item) => large(motiveFleet(), 100, more, 0, 1000);
const links = Array.from({ length: 4 }, (_, n) => ({ input: `camera${n}`, url: link() }));
// Its stream has no size of pages.
const samsara = () => large(samsaraFleet(400), 400, { media: links });
const record = { eventState: 'needsReview', media: links, trace: series(20_000) };
const terminal = () => large(terminalFleet(), 20, { raw: [terminalRaw('samsara', record)] });
const geotab = () => large(geotabFleet(), 60, { diagnostic: link() });
type Large = ReturnType<typeof large>;

describe.each<[string, string, () => Large]>([
  ['motive', 'series of measurements', () => motive({ m_gps_lat: series(4_000) })],
  [
    'motive',
    'signed links',
    () =>
      motive({
        camera_media: {
          available: true,
          downloadable_videos: { ...Array.from({ length: 23 }, () => link()) },
        },
      }),
  ],
  ['samsara', 'signed links', samsara],
  ['terminal', "the providers' own records", terminal],
  ['geotab', 'positions of each exception', geotab],
])('%s, with %s', (provider, _, make) => {
  const tale = providerStory(provider);

  it('has a page read whole that is far too large as it is, and its crash notified', async () => {
    const { origin, credential, serve, count } = make();
    let largest = 0;
    tale.hooks.serves(origin, async (request) => {
      const text = await (await serve(request)).text();
      largest = Math.max(largest, text.length);
      return new Response(text);
    });
    const id = await tale.connectWith(credential, [1]);
    await pullAll(id);
    expect(largest).toBeGreaterThan(2 * 1024 * 1024);
    await tale.arrived(1);
    expect(await tale.events(id)).toHaveLength(count);
    expect(await refusalsOf(id)).toEqual([]);
    expect((await pullStatus(id)).feeds.flatMap(({ problem }) => problem ?? [])).toEqual([]);
  });
});

describe.each<[string, () => Large]>([
  ['motive', () => motive({})],
  ['terminal', terminal],
  ['geotab', geotab],
])(
  '%s, with a page of which so many items are more than is read of any reply',
  (provider, make) => {
    const tale = providerStory(provider);

    it('has it read in smaller ones', async () => {
      const { origin, credential, serve, count } = make();
      tale.hooks.serves(origin, async (request) => {
        const text = await (await serve(request)).text();
        const isLarge = events(JSON.parse(text)) > count / 2;
        return new Response(isLarge ? text.padEnd(maxReplyBytes + 1) : text);
      });
      const id = await tale.connectWith(credential, [1]);
      await pullAll(id);
      await tale.arrived(1);
      expect(await tale.events(id)).toHaveLength(count);
      expect((await pullStatus(id)).feeds.flatMap(({ problem }) => problem ?? [])).toEqual([]);
    }, 60_000);
  },
);

const events = ({
  driver_performance_events: motive,
  results: terminal,
  result: geotab,
}: Item): number =>
  [motive, terminal, at(geotab, 'data')]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .filter(
      (item) => at(item, 'driver_performance_event') ?? at(item, 'startedAt') ?? at(item, 'rule'),
    ).length;

describe('an event that is too large even of what is needed', () => {
  const words = Array.from({ length: 5_000 }, (_, n) => `Behavior number ${n}`);
  const tale = providerStory('motive');

  it('is named with what was refused, and nothing beside it waits', async () => {
    const data = motiveData();
    const [large, crash] = [soon(), soon() + 1000];
    const event = motiveEvent(motiveVehicle(1), 'crash', large, { secondary_behaviors: words });
    data.performance.push(event, motiveEvent(motiveVehicle(2), 'crash', crash));
    tale.hooks.serves('https://api.gomotive.com', fakeMotive(data));
    const id = await tale.connectWith(data.key, [1]);
    await pullAll(id);
    await tale.arrived(1);
    const { refusals } = await pullStatus(id);
    expect(refusals).toMatchObject([
      { kind: 'safetyEvent', sourceId: String(event.id), reason: 'is too large to be read' },
    ]);
    // Once it can be read, it is; and while it cannot, it is not dismissed as one that has gone.
    Object.assign(event, {
      secondary_behaviors: [],
      changedAt: new Date(soon() + 5_000).toISOString(),
    });
    await pullAll(id);
    await tale.arrived(2);
    event.secondary_behaviors = words;
    await pullAll(id);
    expect(await tale.accidents(id, { dismissed: 'true' })).toEqual([]);
  });
});
