import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { vehicle } from '../support/records.ts';
import { rows } from '../support/rows.ts';
import { as, worldBefore } from '../support/world.ts';

const us = worldBefore(beforeEach);

const names = async () =>
  (
    await rows<{ kind: string; name: string }>(
      'select kind, name from names where account_id = ?1 order by kind, name',
      us.accountId,
    )
  ).map(({ kind, name }) => `${kind} ${name}`);
const send = (...records: object[]) => as(us.connection.ingestKey).send(...records);

it('names and plates are kept as vehicles and drivers come, change and go', async () => {
  await send(vehicle({ name: 'Truck 7', licensePlate: 'ABC 1' }), {
    kind: 'driver',
    sourceId: 'd',
    name: 'Robin',
  });
  expect(await names()).toEqual(['driver Robin', 'plate ABC 1', 'vehicle Truck 7']);
  await send(vehicle({ name: 'Truck 8', licensePlate: null }), {
    kind: 'driver',
    sourceId: 'd',
    name: 'robin',
  });
  expect(await names()).toEqual(['driver robin', 'vehicle Truck 8']);
  await rows('delete from vehicles where account_id = ?1', us.accountId);
  await rows('delete from drivers where account_id = ?1', us.accountId);
  expect(await names()).toEqual([]);
});

it('a vehicle that moves writes no name again', async () => {
  const write = async (odometerKm: number, name: string) => {
    const { meta } = await env.DB.prepare(
      `update vehicles set odometer_km = ?1, name = ?2 where account_id = ?3`,
    )
      .bind(odometerKm, name, us.accountId)
      .run();
    return meta.rows_written;
  };
  await send(vehicle({ name: 'Truck 7' }));
  expect(await write(1, 'Truck 7')).toBe(1);
  expect(await write(1, 'Truck 8')).toBe(1 + 2);
});
