import { env } from 'cloudflare:workers';
import { searchKeys } from '#src/core/fleet/lists/search-keys.ts';
import { ownRows, rows, vehicle, worldBefore } from '#test/support.ts';

const us = worldBefore(beforeEach);

const names = async () =>
  (await ownRows(us, 'names')).map(({ kind, name }) => `${kind} ${name}`).sort();

it('names and plates are kept as vehicles and drivers come, change and go', async () => {
  const person = { kind: 'driver', sourceId: 'd' };
  await us.send(vehicle({ name: 'Truck 7', licensePlate: 'ABC-1' }), { ...person, name: 'Doe' });
  expect(await names()).toEqual([
    'driver doe',
    'vehicle truck\x017',
    'vehicle word 7truck',
    'vehicle word abc1',
    'vehicle word truck7',
  ]);
  await us.send(vehicle({ name: '7', licensePlate: 'ABC 1' }), { ...person, name: 'Jane Doe' });
  expect(await names()).toEqual([
    'driver janedoe',
    'driver word doejane',
    'vehicle \x017',
    'vehicle word 7',
    'vehicle word abc1',
  ]);
  for (const table of ['vehicles', 'drivers'])
    await rows(`delete from ${table} where account_id = ?1`, us.accountId);
  expect(await names()).toEqual([]);
});

it('a vehicle that moves writes no name again', async () => {
  const write = async (odometerKm: number, name: string) => {
    const update = 'update vehicles set odometer_km = ?1, search_keys = ?2 where account_id = ?3';
    const keys = JSON.stringify(searchKeys(name, 'ABC-1234'));
    const { meta } = await env.DB.prepare(update).bind(odometerKm, keys, us.accountId).run();
    return meta.rows_written;
  };
  await us.send(vehicle({ name: 'Truck 7', licensePlate: 'ABC 1234' }));
  expect(await write(1, 'Truck 7')).toBe(1);
  expect(await write(1, 'truck-7')).toBe(1);
  expect(await write(1, 'Truck 8')).toBe(1 + 2 * 3);
});
