import { env } from 'cloudflare:workers';
import { dayMs } from '#src/core/platform/durations.ts';
import { perEvent, perTrip } from '#src/docs/per-event.ts';
import {
  ago,
  driver,
  receiver,
  register,
  safetyEvent,
  settled,
  times,
  trip,
  vehicle,
  worldBefore,
} from '#test/support.ts';

const perCall = 500;
const us = worldBefore(beforeAll);

const sizeOfDatabase = async (): Promise<number> =>
  (await env.DB.prepare('select 1').all()).meta.size_after;

const place = { latitude: 40.21543, longitude: -77.18912 };
const usual = () => ({
  sourceId: crypto.randomUUID(),
  driver: 'driver-1',
  startedAt: ago(Math.random() * dayMs),
});
const usualEvent = () =>
  safetyEvent({ ...usual(), location: { ...place, address: 'I-81 N, Carlisle, PA' } });
const usualTrip = () =>
  trip({
    ...usual(),
    endedAt: new Date().toISOString(),
    startLocation: place,
    endLocation: place,
    distanceKm: 142.7,
    durationSeconds: 6720,
  });

/** Sends some calls of usual records, and returns by how many bytes each made D1 grow. */
async function growth(
  calls: number,
  notify: boolean,
  usual = usualEvent as () => object,
): Promise<number> {
  const before = await sizeOfDatabase();
  for (let i = 0; i < calls; i++) {
    const records = times(perCall, usual);
    const { data } = await us.connector.post('/ingest', { records, notify });
    expect(data).toMatchObject({ accepted: perCall });
  }
  if (notify) await settled(hook, calls * perCall);
  return ((await sizeOfDatabase()) - before) / calls / perCall;
}

let hook = '';
beforeAll(async () => {
  receiver();
  await us.send(vehicle(), driver());
  hook = (await register(us)).id;
  await growth(2, false);
  await growth(2, false, usualTrip); // the first pages of each table and index
});

it('events and their deliveries take as much of the database as the costs say', async () => {
  const event = await growth(4, false);
  const delivered = await growth(2, true);
  expect(Math.abs(event / perEvent.bytesStored - 1)).toBeLessThan(0.15);
  const inLife = perEvent.bytesStored + perEvent.bytesDelivered;
  expect(Math.abs(delivered / inLife - 1)).toBeLessThan(0.1);
  expect(inLife).toBeLessThanOrEqual(1000);
});

it('so do trips', async () => {
  expect(Math.abs((await growth(4, false, usualTrip)) / perTrip.bytesStored - 1)).toBeLessThan(
    0.15,
  );
});
