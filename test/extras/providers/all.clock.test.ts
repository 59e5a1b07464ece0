import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { pull } from '#src/extras/providers/pull.ts';
import { ownRows, recordId, rows, through } from '#test/support.ts';
import { type Fleet, iso, withHistory } from './fleets/fleet.ts';
import { geotabFleet } from './fleets/geotab.ts';
import { motiveFleet } from './fleets/motive.ts';
import { samsaraFleet } from './fleets/samsara.ts';
import { terminalFleet } from './fleets/terminal.ts';
import { aheadBy, dismissed, makePullDue, providerStory, reported } from './support.ts';

let made = 0;
const fleets = [
  ['samsara', () => samsaraFleet(2)],
  // Its pages may say a total.
  ['motive', () => motiveFleet(made++ % 2 ? { perPage: 2 } : { saysTotal: false })],
  ['terminal', () => terminalFleet(2)],
  ['geotab', () => geotabFleet(2)],
] as const;

/** As for any provider; `serve` makes its fleet, and serves it. */
function fleetStory(provider: string, make: () => Fleet) {
  let fleet: Fleet;
  const tale = providerStory(provider, () => fleet.credential);
  return Object.assign(tale, {
    serve() {
      fleet = withHistory(make());
      tale.hooks.serves(fleet.origin, fleet.serve);
      return fleet;
    },
  });
}

describe.each(fleets)('%s', (provider, make) => {
  const tale = fleetStory(provider, make);
  const { connected, pulled, pullAll, pullRun, pullColumn, accidents } = tale;
  let fleet: Fleet;
  beforeEach(() => {
    fleet = tale.serve();
  });

  it('has its history loaded in silence, as customers know it', async () => {
    await connected([1, 2], { historyDays: 16 });
    for (const [table, ids] of fleet.known()) {
      const isLong = table === 'trips' || table === 'safety_events'; // of which a fifth is too old
      const loaded = isLong ? ids.slice(0, -ids.length / 5) : ids;
      expect([table, await tale.sourceIds(table)]).toEqual([table, loaded.sort()]);
    }
    const { organisation, ...shown } = fleet.shown;
    for (const list of ['vehicles', 'drivers', 'trips', 'events'] as const)
      expect(await tale[list]()).toContainEqual(expect.objectContaining(shown[list]));
    expect(tale.hooks.got).toEqual([]);
    const status = await tale.pullStatus();
    expect(status.organisation).toBe(organisation);
    expect(status.feeds.flatMap(({ history }) => history?.share ?? [])).toEqual([1, 1]);
  });

  it('raises a crash as it is confirmed, and dismisses what was none', async () => {
    await connected([1]);
    const from = iso(Date.now());
    const [crash, alarm] = [fleet.addEvent(0, true), fleet.addEvent(1, true)];
    await pulled(2);
    crash.confirm();
    alarm.dismiss();
    await pulled(4);
    expect([0, 1].map((n) => tale.levels(fleet.vinOf(n)))).toEqual([
      reported.slice(0, 2),
      dismissed,
    ]);
    const withdrawn = await accidents({ dismissed: 'true', from });
    expect(withdrawn).toMatchObject([{ vin: fleet.vinOf(1) }]);
  });

  it('saves no credential that is refused, and does not repeat it', async () => {
    const { status, message, errors } = await tale.tryToConnect(fleet.wrongCredential);
    expect([status, errors?.[0]?.field]).toEqual([400, 'credential']);
    expect(message).toContain(' refuses ');
    expect(message).not.toContain('wrong');
    expect(await ownRows(tale.us, 'pulls')).toEqual([]);
  });

  it('is called again when it says, to parts of seconds, for all feeds', async () => {
    await connected();
    const headers = { 'retry-after': '57.6' };
    const limited = vi.fn(() => new Response('', { status: 429, headers }));
    tale.hooks.serves(fleet.origin, limited);
    const before = Date.now();
    await pullRun();
    expect(await pullColumn('due_at')).toBeGreaterThanOrEqual(before + 57_600);
    expect(await pullColumn('due_at')).toBeLessThan(before + 67_600);
    expect(limited).toHaveBeenCalledOnce();
  });

  it('is asked for its events alone while nothing happens, and nothing is written', async () => {
    await connected();
    await rows('update pulls set due_at = 0 where connection_id = ?1', tale.id);
    const before = await pullColumn('feeds');
    const asked: string[] = [];
    tale.hooks.serves(fleet.origin, (request) => {
      asked.push(new URL(request.url).pathname);
      return fleet.serve(request);
    });
    await pull(env, [tale.id]);
    expect(asked.sort()).toEqual(fleet.asked);
    expect(await pullColumn('feeds')).toBe(before);
  });

  it('loses nothing that happens while its pages are read', async () => {
    await tale.connect();
    const added: string[] = [];
    tale.hooks.serves(fleet.origin, (request) => {
      if (added.length < 9) added.push(fleet.addEvent(added.length, false).sourceId);
      return fleet.serve(request);
    });
    for (let minutes = 0; minutes < 2; minutes++) await pullAll();
    expect(await tale.sourceIds('safety_events')).toEqual(expect.arrayContaining(added));
  });

  it('sends a crash as a safety event until it has a usable VIN and place', async () => {
    await tale.connect([1, 2]);
    const from = new Date().toISOString();
    for (const [n, vin] of [' ', 'V'.repeat(41)].entries()) fleet.setVin(n, vin);
    await pullAll();
    const events = [0, 1, 2].map((n) => fleet.addEvent(n, true));
    events[2]?.move(91);
    await pulled(3);
    expect(await accidents({ from })).toEqual([]);
    for (const n of [0, 1]) fleet.setVin(n, '1FUJGLDR5CLBP8834'); // of the same vehicle, whose unit was moved
    events[2]?.move(39.5);
    aheadBy(5);
    for (let minutes = 0; minutes < 2; minutes++) await pulled(6);
    const known = await accidents({ from });
    expect(new Set(known.map(({ vehicleId }) => vehicleId)).size).toBe(3);
    expect(known.map(({ eventId }) => eventId).sort()).toEqual(
      events.map(({ sourceId }) => recordId(tale.id, 'accident', sourceId)).sort(),
    );
  });

  it('has events and accidents notified at once with their vehicle, though it is not known yet', async () => {
    await connected([1, 2]);
    for (const n of [4, 5]) fleet.vehicle(n);
    fleet.setVin(3, 'V'.repeat(41)); // a placeholder needs no more than the id
    const from = new Date().toISOString();
    fleet.addEvent(3, false);
    fleet.addEvent(4, true);
    await pulled(3);
    const names = tale.notified().map(({ vehicleName }) => vehicleName);
    expect(names).toContainEqual(expect.stringMatching(/ 4$/));
    const [accident] = await accidents({ from });
    expect(accident).toMatchObject({ vehicleName: expect.stringMatching(/ 5$/) });
  });

  // Motive's look-up of crashes is what it notifies of.
  it.skipIf(provider === 'motive').each([429, 503])(
    'has what a page says notified at once, when whatever else is asked is answered with %i',
    async (status) => {
      await tale.connect([1, 2]);
      fleet.setVin(0, ' ');
      await pullAll();
      fleet.addEvent(0, true); // looked at again until it has a VIN
      await pulled(1);
      aheadBy(5);
      const { sourceId } = fleet.addEvent(1, false);
      let isListed = false;
      const refused = vi.fn(() => new Response('', { status }));
      tale.hooks.serves(fleet.origin, async (request) => {
        if (isListed) return refused();
        const text = await (await fleet.serve(request)).text();
        isListed = text.includes(sourceId);
        return new Response(text);
      });
      await pullRun();
      expect(refused).toHaveBeenCalled();
      await tale.arrived(2);
    },
  );
});

// Last, for it leaves much that is still being notified.
describe.each(fleets)('%s', (provider, make) => {
  const tale = fleetStory(provider, make);

  it('whatever fails there or with us, all is there in the end, and is notified once', {
    tags: ['proof'],
    timeout: 600_000,
  }, async () => {
    for (const level of ['warn', 'error'] as const)
      vi.spyOn(console, level).mockImplementation(() => {}); // isolates that die say so
    const numRuns = env.FULL_PROOF ? 200 : 12;
    await fc.assert(
      fc.asyncProperty(turns, async (turns) => {
        const fleet = tale.serve();
        await rows('delete from webhooks where account_id = ?1', tale.us.accountId);
        await tale.connect([1, 2], { historyDays: 20 });
        const fresh: ReturnType<typeof goOn>[] = [];
        for (const { failing, dies, happens } of turns) {
          let call = 0;
          tale.hooks.serves(fleet.origin, (request) => {
            const serve = () => fleet.serve(request);
            return faults[failing[call++] ?? 'none']?.(serve) ?? serve();
          });
          if (happens) fresh.push(goOn(fleet, fresh));
          await forget(tale.id);
          await pull(dies === null ? env : dying(dies), [tale.id]);
        }
        tale.hooks.serves(fleet.origin, fleet.serve);
        await forget(tale.id);
        for (let minutes = 0; minutes < 2; minutes++) await tale.pullAll(); // a pass may have begun before the last event
        for (const [table, ids] of fleet.known())
          expect([table, await tale.sourceIds(table)]).toEqual([table, ids.toSorted()]);
        const notified = fresh.flatMap(({ sourceId, levels }) => [
          `${recordId(tale.id, 'safetyEvent', sourceId)} 0`,
          ...levels.map((level) => `${recordId(tale.id, 'accident', sourceId)} ${level}`),
        ]);
        // Twice what is notified twice.
        const deliveries = await rows(
          `select d.event_id || ' ' || d.level as notified from webhook_connections w
           join deliveries d on d.webhook_id = w.webhook_id where w.connection_id = ?1`,
          tale.id,
        );
        expect(deliveries.map(({ notified }) => notified).sort()).toEqual(notified.sort());
      }),
      { numRuns },
    );
  });
});

type Serve = () => Promise<Response>;
const faults: { [fault: string]: (serve: Serve) => Response | Promise<Response> } = {
  none: (serve) => serve(),
  down: () => new Response('upstream connect error', { status: 503 }),
  'cut off': () => Promise.reject(new TypeError('Network connection lost')),
  limited: () => new Response('', { status: 429, headers: { 'retry-after': '0.4' } }),
  'page of html': () => new Response('<html>maintenance</html>'),
  async 'half a reply'(serve) {
    const text = await (await serve()).text();
    return new Response(text.slice(0, text.length / 2));
  },
};

/** What becomes of each turn: the faults of its calls, and after which call of ours the isolate dies, if it does. */
const turns = fc.array(
  fc.record({
    failing: fc.array(fc.constantFrom('none', 'none', ...Object.keys(faults)), { maxLength: 12 }),
    dies: fc.option(fc.integer({ min: 1, max: 25 }), { freq: 3 }),
    happens: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

/** One event more. Each third is a crash, which is confirmed with the next. The second comes with a new vehicle. */
function goOn(fleet: Fleet, fresh: { confirm(): void; levels: number[] }[]) {
  const n = fresh.length;
  const isCrash = n % 3 === 0;
  const event = fleet.addEvent(n, isCrash);
  if (n === 1) fleet.vehicle(4);
  const before = fresh.at(-1);
  if (before?.levels.length === 1) {
    before.confirm();
    before.levels.push(2);
  }
  return { ...event, levels: isCrash ? [1] : [] };
}

/** The bindings of an isolate that dies at its n-th call: that one and all that follow come to nothing. */
function dying(n: number) {
  let calls = 0;
  const unlessDead = <T>(work: () => Promise<T>) =>
    ++calls >= n ? Promise.reject(new Error('The isolate is dead')) : work();
  const DELIVERIES = {
    sendBatch: (messages: never[]) => unlessDead(() => env.DELIVERIES.sendBatch(messages)),
  } as unknown as Queue; // what pulls use of it
  return { ...env, DB: through(env.DB, (run) => unlessDead(run)), DELIVERIES };
}

/** Time passes: claims lapse as well. */
async function forget(id: string) {
  await rows('update pulls set claimed_until = 0 where connection_id = ?1', id);
  await makePullDue(id);
}
