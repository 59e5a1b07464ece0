import type { FoundItem } from '#src/extras/search/operations.ts';
import { driver, invalid, operator, vehicle, worldBefore } from '#test/support.ts';

const us = worldBefore(beforeAll);
beforeAll(async () => {
  await us.send(
    vehicle({ sourceId: 'a', name: 'Truck 12', licensePlate: 'AB-123', vin: '1FUJGLDR5CLBP0012' }),
    vehicle({ sourceId: 'b', name: 'Truck 13', vin: '1FUJGLDR5CLBP0013' }),
    vehicle({ sourceId: 'c', name: 'Van 7', vin: null }),
    vehicle({ sourceId: 'd', name: 'Van 7', vin: null }),
    driver({ name: 'Jane Doe' }),
  );
});

const path = '/operator/fleet/find';
const find = async (query: object) => {
  const parameters = new URLSearchParams({ accountId: us.accountId, ...query });
  return (await operator.get<FoundItem[]>(`${path}?${parameters}`)).data;
};
const names = async (query: object) =>
  (await find(query)).map(({ name, meant }) => (meant ? name : `${name}?`));

it.each([
  ['the name, whatever its case and spaces', { vehicle: 'truck12' }, ['Truck 12']],
  ['the plate', { vehicle: 'ab 123' }, ['Truck 12']],
  ['the VIN', { vehicle: '1fujgldr5clbp0013' }, ['Truck 13']],
  ['all of one name', { vehicle: 'Van 7' }, ['Van 7', 'Van 7']],
  ['the names most like it', { vehicle: 'Truk 12' }, ['Truck 12?', 'Truck 13?']],
  ['a driver', { driver: 'doe, jane' }, ['Jane Doe']],
  ['a driver with a name like it', { driver: 'Jane Do' }, ['Jane Doe?']],
  ['all with a name like it', { vehicle: 'Van' }, ['Van 7?', 'Van 7?']],
  ['nothing', { vehicle: 'Ship' }, []],
])('finds vehicles and drivers by %s', async (_, query, found) => {
  expect(await names(query)).toEqual(found);
});

it('finds by id, in all accounts or in one', async () => {
  const [one] = await find({ vehicle: 'Truck 12' });
  expect(one).toMatchObject({ accountId: us.accountId, licensePlate: 'AB-123' });
  expect(await names({ vehicle: String(one?.id).toUpperCase() })).toEqual(['Truck 12']);
  const byId = `${path}?vehicle=${one?.id}`;
  expect((await operator.get(byId)).data).toEqual([one]);
  expect((await operator.get(`${byId}&accountId=${crypto.randomUUID()}`)).data).toEqual([]);
  expect(await operator.get(path)).toMatchObject(invalid('Give a vehicle or a driver'));
});
