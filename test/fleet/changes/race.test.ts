import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { noteRecords } from '../../../src/fleet/changes/note.ts';
import { change, openDatabase, transaction } from '../../../src/platform/db/database.ts';
import { follower, listed } from '../../support/follower.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '../../support/records.ts';
import { runs } from '../../support/runs.ts';
import { as, type World, world } from '../../support/world.ts';

const version = fc.integer({ min: 0, max: 50 });
const record = fc.oneof(
  fc.record({ kind: fc.constant('driver'), n: fc.nat(5), version }),
  fc.record({ kind: fc.constant('vehicle'), n: fc.nat(2), version }),
  fc.record({ kind: fc.constant('trip'), n: fc.nat(8), version }),
  fc.record({ kind: fc.constant('safetyEvent'), n: fc.nat(12), version }),
  fc.record({ kind: fc.constant('accident'), n: fc.nat(3), version }),
);
type Seed = typeof record extends fc.Arbitrary<infer T> ? T : never;

/** A record of that version: some have happened long ago, and come late. */
function recordOf({ kind, n, version }: Seed): object {
  const at = { startedAt: new Date(Date.UTC(2026, 10, 1 + (n % 20), version % 24)).toISOString() };
  const of = { vehicle: `v${n % 3}`, ...(n % 2 && { driver: `d${n % 6}` }) };
  if (kind === 'driver') return driver({ sourceId: `d${n}`, name: `Driver ${version}` });
  if (kind === 'vehicle') return vehicle({ sourceId: `v${n}`, odometerKm: version });
  if (kind === 'trip') return trip({ sourceId: `t${n}`, ...of, ...at, distanceKm: version });
  if (kind === 'accident') return accident({ sourceId: `a${n}`, notificationLevel: 1 + (version % 3) });
  return safetyEvent({ sourceId: `e${n}`, ...of, ...at, eventRisk: 1 + (version % 5) });
}

/** Deletes some trips as a job of the service would: noted in the transaction that deletes them. */
async function deleteTrips(us: World, count: number): Promise<void> {
  const db = openDatabase(env);
  const source = { accountId: us.accountId, connectionId: us.connection.id, now: Date.now() };
  const some = sql`select id from trips where connection_id = ${us.connection.id} order by started_at, id limit ${count}`;
  await transaction(db, [
    change(db, noteRecords(source, 'deleted', 'trip', some)),
    change(db, sql`delete from trips where id in (${some})`),
  ]);
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ call: fc.array(record, { minLength: 1, maxLength: 8 }), by: fc.nat(1) }),
  },
  { weight: 1, arbitrary: fc.record({ deleted: fc.integer({ min: 1, max: 5 }) }) },
);

it('whoever follows has everything, however many calls race, and whenever they begin', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(2, 5, 50),
      async (rounds, limit) => {
        const us = await world({ providers: ['motive', 'samsara'] });
        const connections = us.connections.map(({ id }) => id);
        for (const { ingestKey } of us.connections)
          await as(ingestKey).send(...[0, 1, 2].map((n) => vehicle({ sourceId: `v${n}` })));
        const query = `kinds=driver,vehicle,trip,safetyEvent,accident&limit=${limit}`;
        const fromTheBeginning = follower(us.apiToken, { query });
        const ofVans = follower(us.apiToken, { query, connection: connections[1] ?? '' });
        const joining = follower(us.apiToken, { query });

        const perform = (one: (typeof rounds)[number][number]) =>
          'deleted' in one
            ? deleteTrips(us, one.deleted)
            : as(us.connections[one.by]?.ingestKey ?? '').send(...one.call.map(recordOf));
        /** Reads while calls are taken in, a page at a time. */
        const reading = async (client: ReturnType<typeof follower>, pages: number) => {
          for (let page = 0; page < pages; page++) await client.read();
        };
        for (const [at, steps] of rounds.entries()) {
          const join = async () => {
            await joining.read('now');
            joining.take([...(await listed(us.apiToken, connections)).values()]);
          };
          await Promise.all([
            ...steps.map(perform),
            reading(fromTheBeginning, steps.length),
            reading(ofVans, steps.length),
            at === 0 ? join() : reading(joining, steps.length),
          ]);
        }
        for (const client of [fromTheBeginning, ofVans, joining]) await client.catchUp();

        const all = await listed(us.apiToken, connections);
        expect(fromTheBeginning.copy).toEqual(all);
        expect(joining.copy).toEqual(all);
        expect(ofVans.copy).toEqual(await listed(us.apiToken, connections.slice(1)));
      },
    ),
    { numRuns: runs(30) },
  );
}, 600_000);
