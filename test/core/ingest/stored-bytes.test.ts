import { env } from 'cloudflare:workers';
import { maxVinBytes } from '#src/core/fleet/lists/field-types.ts';
import { groupLimits, maxNameBytes } from '#src/core/fleet/lists/vehicles.ts';
import {
  accident,
  receiver,
  register,
  rows,
  safetyEvent,
  times,
  trip,
  worldBefore,
} from '#test/support.ts';

/**
 * What D1 grows by for a record beyond four times what was sent: ids, times and their indexes. A safety event and an
 * accident have, besides, a notification with ids of its own and a delivery; an event also has its vehicle's name, VIN
 * and groups, twice. The change feed names each record once; names that people look for are in an index of their own.
 */
const fixedBytes = { driver: 400, vehicle: 320, trip: 384, safetyEvent: 2700, accident: 1152 };

/** A row of more than about 1,000 bytes has a page of its own for what exceeds them. */
const pageBytes = 4096;

const perCall = 500;
const us = worldBefore(beforeAll);
beforeAll(async () => {
  receiver();
  await register(us);
  await rows('update webhooks set stopped_at = 1'); // what is recorded of deliveries would count for the next call
  const largest = {
    kind: 'vehicle',
    sourceId: 'v',
    name: 'n'.repeat(maxNameBytes),
    vin: 'v1'.repeat(maxVinBytes / 2),
    groups: times(groupLimits.max, () => 'g'.repeat(11)),
  };
  expect(JSON.stringify(largest.groups).length).toBeGreaterThan(0.9 * groupLimits.bytes);
  expect((await us.send(largest)).data).toMatchObject({ accepted: 1 });
});

const databaseBytes = async (): Promise<number> =>
  (await env.DB.prepare('select 1').all()).meta.size_after;

let made = 0;

/** Sends a call of such records, and returns by how many bytes each made D1 grow beyond four times its own. */
async function excessOf(record: object): Promise<number> {
  const records = times(perCall, () => ({ ...record, sourceId: (made++).toString(36) }));
  const sent = new TextEncoder().encode(JSON.stringify({ records })).length;
  const before = await databaseBytes();
  const { data } = await us.send(...records);
  expect(data).toMatchObject({ accepted: perCall, rejected: [] });
  return ((await databaseBytes()) - before - 4 * sent) / perCall;
}

const small = {
  driver: { kind: 'driver', name: 'n' },
  vehicle: { kind: 'vehicle', name: 'n' },
  trip: trip({ vehicle: 'v' }),
  safetyEvent: safetyEvent({ vehicle: 'v', incidentTypes: ['x'], recipients: undefined }),
  accident: accident({ vin: 'v111', location: { latitude: 1, longitude: 2 } }),
};
type Kind = keyof typeof small;

const wide = '"'.repeat(200);
const location = { latitude: 1, longitude: 2, address: wide };
const recipients = times(20, (i) => `${i}${'a'.repeat(60)}@example.com`);
type Case = [what: string, Kind, object, pages: number];

it.each<Case>([
  ...(Object.keys(small) as Kind[]).map((kind): Case => [`small ${kind}`, kind, small[kind], 0]),
  [
    'large vehicle',
    'vehicle',
    { ...small.vehicle, make: 'm'.repeat(100), model: wide.slice(100), groups: ['a', 'b'] },
    1,
  ],
  ['event with a long address', 'safetyEvent', safetyEvent({ vehicle: 'v', location }), 2],
  ['event for many people', 'safetyEvent', safetyEvent({ vehicle: 'v', recipients }), 2],
])(
  'a %s is kept in four times its bytes, what every %s costs, and a page for each large row',
  async (_, kind, record, pages) => {
    expect(await excessOf(record)).toBeLessThanOrEqual(fixedBytes[kind] + pages * pageBytes);
  },
);
