import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { recordId } from '#src/core/platform/db/ids.ts';
import { through } from '#src/core/platform/db/through.ts';
import { pull } from '#src/extras/providers/pull.ts';
import { motiveFleet } from '#test/extras/providers/fleets/motive.ts';
import { terminalFleet } from '#test/extras/providers/fleets/terminal.ts';
import {
  aheadBy,
  makePullDue,
  providerStory,
  pullAll,
  pullColumn,
  pullRun,
} from '#test/support/provider.ts';
import { type Fleet, type FleetEvent, withHistory } from '#test/support/providers/fleet.ts';
import { geotabFleet } from '#test/support/providers/geotab.ts';
import { samsaraFleet } from '#test/support/providers/samsara.ts';
import { rows } from '#test/support/rows.ts';

let made = 0;
const fleets = [
  ['samsara', () => samsaraFleet(2)],
  // Its pages may say a total.
  ['motive', () => motiveFleet(made++ % 2 ? { perPage: 2 } : { saysTotal: false })],
  ['terminal', () => terminalFleet(2)],
  ['geotab', () => geotabFleet(2)],
] as const;

/** As for any provider; `served` makes a fleet that is served. */
function fleetStory(provider: string, make: () => Fleet) {
  const tale = providerStory(provider);
  const served = () => {
    const fleet = withHistory(make());
    tale.hooks.serves(fleet.origin, fleet.serve);
    return fleet;
  };
  return { tale, served };
}

describe.each(fleets)('%s', (provider, make) => {
  const { tale, served } = fleetStory(provider, make);

  it('saves no credential that is refused, and does not repeat it', async () => {
    const { status, message, errors } = await tale.tryToConnect(served().wrongCredential);
    expect([status, errors?.[0]?.field]).toEqual([400, 'credential']);
    expect(message).toContain(' refuses ');
    expect(message).not.toContain('wrong');
    expect(await rows('select 1 from pulls where account_id = ?1', tale.us.accountId)).toEqual([]);
  });

  it('is called again when it says, to parts of seconds, for all feeds', async () => {
    const fleet = served();
    const id = await tale.connectWith(fleet.credential);
    await pullAll(id);
    const limited = vi.fn(
      () => new Response('', { status: 429, headers: { 'retry-after': '57.6' } }),
    );
    tale.hooks.serves(fleet.origin, limited);
    const before = Date.now();
    await pullRun(id);
    const wait = Number(await pullColumn(id, 'due_at')) - before;
    expect(wait).toBeGreaterThanOrEqual(57_600);
    expect(wait).toBeLessThan(67_600);
    expect(limited).toHaveBeenCalledOnce();
  });

  it('is asked for its events alone while nothing happens, and nothing is written', async () => {
    const fleet = served();
    const id = await tale.connectWith(fleet.credential);
    await pullAll(id);
    await rows('update pulls set due_at = 0 where connection_id = ?1', id);
    const before = await pullColumn(id, 'feeds');
    const asked: string[] = [];
    tale.hooks.serves(fleet.origin, (request) => {
      asked.push(new URL(request.url).pathname);
      return fleet.serve(request);
    });
    await pull(env, [id]);
    expect(asked.sort()).toEqual(fleet.asked);
    expect(await pullColumn(id, 'feeds')).toBe(before);
  });

  it('loses nothing that happens while its pages are read', async () => {
    const fleet = served();
    const id = await tale.connectWith(fleet.credential);
    const added: string[] = [];
    tale.hooks.serves(fleet.origin, (request) => {
      if (added.length < 9) added.push(fleet.addEvent(added.length, false).sourceId);
      return fleet.serve(request);
    });
    for (let minutes = 0; minutes < 2; minutes++) await pullAll(id);
    expect(await sourceIds('safety_events', id)).toEqual(expect.arrayContaining(added));
  });

  it('sends a crash as a safety event until it has a usable VIN and place', async () => {
    const fleet = served();
    const id = await tale.connectWith(fleet.credential, [1, 2]);
    const from = new Date().toISOString();
    for (const [n, vin] of [' ', 'V'.repeat(41)].entries()) fleet.setVin(n, vin);
    await pullAll(id);
    const events = [0, 1, 2].map((n) => fleet.addEvent(n, true));
    events[2]?.move(91);
    await pullAll(id);
    await tale.arrived(3);
    expect(await tale.accidents(id, { from })).toEqual([]);
    for (const n of [0, 1]) fleet.setVin(n, '1FUJGLDR5CLBP8834'); // of the same vehicle, whose unit was moved
    events[2]?.move(39.5);
    aheadBy(5);
    for (let minutes = 0; minutes < 2; minutes++) await pullAll(id);
    await tale.arrived(6);
    const known = await tale.accidents(id, { from });
    expect(new Set(known.map(({ vehicleId }) => vehicleId)).size).toBe(3);
    expect(known.map(({ eventId }) => eventId).sort()).toEqual(
      events.map(({ sourceId }) => recordId(id, 'accident', sourceId)).sort(),
    );
  });

  it('has events and accidents notified at once with their vehicle, though it is not known yet', async () => {
    const fleet = served();
    const id = await tale.connectWith(fleet.credential, [1, 2]);
    await pullAll(id);
    for (const n of [4, 5]) fleet.addVehicle(n);
    fleet.setVin(3, 'V'.repeat(41)); // a placeholder needs no more than the id
    fleet.addEvent(3, false);
    const { sourceId } = fleet.addEvent(4, true);
    await pullAll(id);
    await tale.arrived(3);
    const [fourth, fifth] = [/ 4$/, / 5$/].map((name) => ({
      vehicleName: expect.stringMatching(name),
    }));
    expect(tale.notified()).toContainEqual(expect.objectContaining(fourth));
    const eventId = recordId(id, 'accident', sourceId);
    expect(await tale.accidents(id)).toContainEqual(expect.objectContaining({ eventId, ...fifth }));
  });

  // Motive's look-up of crashes is what it notifies of.
  it.skipIf(provider === 'motive').each([429, 503])(
    'has what a page says notified at once, when whatever else is asked is answered with %i',
    async (status) => {
      const fleet = served();
      const id = await tale.connectWith(fleet.credential, [1, 2]);
      fleet.setVin(0, ' ');
      await pullAll(id);
      fleet.addEvent(0, true); // looked at again until it has a VIN
      await pullAll(id);
      await tale.arrived(1);
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
      await pullRun(id);
      expect(refused).toHaveBeenCalled();
      await tale.arrived(2);
    },
  );
});

// Last, for it leaves much that is still being notified.
describe.each(fleets)('%s', (provider, make) => {
  const { tale, served } = fleetStory(provider, make);

  it('whatever fails there or with us, all is there in the end, and is notified once', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {}); // isolates that die say so
    const numRuns = env.FULL_PROOF ? 200 : 12;
    await fc.assert(
      fc.asyncProperty(turns, async (turns) => {
        const fleet = served();
        const id = await tale.connectWith(fleet.credential, [1, 2], { historyDays: 20 });
        const fresh: { event: FleetEvent; levels: number }[] = [];
        for (const { faults, dies, happens } of turns) {
          let call = 0;
          tale.hooks.serves(fleet.origin, (request) =>
            failing(faults[call++] ?? 'none', fleet, request),
          );
          if (happens) fresh.push(goOn(fleet, fresh));
          await forget(id);
          await pull(dies === null ? env : dying(dies), [id]);
        }
        tale.hooks.serves(fleet.origin, fleet.serve);
        await forget(id);
        for (let minutes = 0; minutes < 2; minutes++) await pullAll(id); // a pass may have begun before the last event
        for (const [table, ids] of Object.entries(fleet.known()))
          expect([table, await sourceIds(table, id)]).toEqual([table, ids.toSorted()]);
        const notified = fresh.flatMap(({ event: { sourceId }, levels }) => [
          `${recordId(id, 'safetyEvent', sourceId)} 0`,
          ...Array.from(
            { length: levels },
            (_, i) => `${recordId(id, 'accident', sourceId)} ${i + 1}`,
          ),
        ]);
        expect(await notifiedOf(id)).toEqual(notified.sort());
      }),
      { numRuns },
    );
  }, 600_000);
});

const faults = [
  ...['none', 'none', 'none', 'down'],
  ...['cut off', 'limited', 'page of html', 'half a reply'],
] as const;

/** What becomes of each turn: the faults of its calls, and after which call of ours the isolate dies, if it does. */
const turns = fc.array(
  fc.record({
    faults: fc.array(fc.constantFrom(...faults), { maxLength: 12 }),
    dies: fc.option(fc.integer({ min: 1, max: 25 }), { freq: 3 }),
    happens: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

/** One event more. Each third is a crash, which is confirmed with the next. The second comes with a new vehicle. */
function goOn(fleet: Fleet, fresh: { event: FleetEvent; levels: number }[]) {
  const n = fresh.length;
  const event = fleet.addEvent(n, n % 3 === 0);
  if (n === 1) fleet.addVehicle(4);
  const before = fresh.at(-1);
  if (before?.levels === 1) {
    before.event.confirm();
    before.levels = 2;
  }
  return { event, levels: n % 3 === 0 ? 1 : 0 };
}

async function failing(
  fault: (typeof faults)[number],
  fleet: Fleet,
  request: Request,
): Promise<Response> {
  switch (fault) {
    case 'down':
      return new Response('upstream connect error', { status: 503 });
    case 'cut off':
      throw new TypeError('Network connection lost');
    case 'limited':
      return Response.json(
        { message: 'slow down' },
        { status: 429, headers: { 'retry-after': '0.4' } },
      );
    case 'page of html':
      return new Response('<html>maintenance</html>', { headers: { 'content-type': 'text/html' } });
    case 'half a reply': {
      const text = await (await fleet.serve(request)).text();
      return new Response(text.slice(0, text.length / 2));
    }
    default:
      return fleet.serve(request);
  }
}

/** The bindings of an isolate that dies at its n-th call: that one and all that follow come to nothing. */
function dying(n: number): Env {
  let calls = 0;
  const unlessDead = <T>(work: () => Promise<T>): Promise<T> =>
    ++calls >= n ? Promise.reject(new Error('The isolate is dead')) : work();
  const DELIVERIES = {
    sendBatch: (messages: never[]) => unlessDead(() => env.DELIVERIES.sendBatch(messages)),
  } as unknown as Queue; // what pulls use of it
  return { ...env, DB: through(env.DB, (run) => unlessDead(run)), DELIVERIES };
}

/** Time passes: claims lapse as well. */
async function forget(id: string): Promise<void> {
  await rows('update pulls set claimed_until = 0 where connection_id = ?1', id);
  await makePullDue(id);
}

const sourceIds = async (table: string, connection: string) =>
  (await rows(`select source_id from ${table} where connection_id = ?1`, connection))
    .map(({ source_id }) => String(source_id))
    .sort();

/** What deliveries there are, each with its event and level: twice what is notified twice. */
const notifiedOf = async (connection: string) =>
  (
    await rows(
      `select d.event_id || ' ' || d.level as notified from webhook_connections w
       join deliveries d on d.webhook_id = w.webhook_id where w.connection_id = ?1`,
      connection,
    )
  )
    .map(({ notified }) => String(notified))
    .sort();
