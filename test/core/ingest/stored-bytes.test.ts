import { env } from 'cloudflare:workers';
import { maxVinBytes } from '#src/core/fleet/lists/field-types.ts';
import { groupLimits, maxNameBytes } from '#src/core/fleet/lists/vehicles.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident, safetyEvent, trip } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { webhookBody, worldBefore } from '#test/support/world.ts';

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
  await us.api.post('/webhook', webhookBody(us));
  await rows('update webhooks set stopped_at = 1'); // what is recorded of deliveries would count for the next call
  const largest = {
    kind: 'vehicle',
    sourceId: 'v',
    name: 'n'.repeat(maxNameBytes),
    vin: 'v1'.repeat(maxVinBytes / 2),
    groups: Array.from({ length: groupLimits.max }, () => 'g'.repeat(11)),
  };
  expect(JSON.stringify(largest.groups).length).toBeGreaterThan(0.9 * groupLimits.bytes);
  expect((await us.send(largest)).data).toMatchObject({ accepted: 1 });
});

const databaseBytes = async (): Promise<number> =>
  (await env.DB.prepare('select 1').all()).meta.size_after;

let made = 0;

/** Sends a call of such records, and returns by how many bytes each made D1 grow beyond four times its own. */
async function excessOf(record: object): Promise<number> {
  const records = Array.from({ length: perCall }, () => ({
    ...record,
    sourceId: (made++).toString(36),
  }));
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
const kinds = Object.keys(small) as Kind[]; // as just written

it.each(kinds)(
  'a small %s is kept in four times its bytes and what every record costs',
  async (kind) => {
    expect(await excessOf(small[kind])).toBeLessThanOrEqual(fixedBytes[kind]);
  },
);

const wide = '"'.repeat(200);
it.each<[string, Kind, object, number]>([
  [
    'vehicle',
    'vehicle',
    { ...small.vehicle, make: 'm'.repeat(100), model: wide.slice(100), groups: ['a', 'b'] },
    1,
  ],
  [
    'event with a long address',
    'safetyEvent',
    safetyEvent({ vehicle: 'v', location: { latitude: 1, longitude: 2, address: wide } }),
    2,
  ],
  [
    'event for many people',
    'safetyEvent',
    safetyEvent({
      vehicle: 'v',
      recipients: Array.from({ length: 20 }, (_, i) => `${i}${'a'.repeat(60)}@example.com`),
    }),
    2,
  ],
])(
  'a large %s needs no more than a page besides for each of its rows',
  async (_, kind, record, rows) => {
    expect(await excessOf(record)).toBeLessThanOrEqual(fixedBytes[kind] + rows * pageBytes);
  },
);
