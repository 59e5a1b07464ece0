import { maxVehicles } from '#src/core/fleet/accidents/store.ts';
import { recordId } from '#src/core/platform/db/ids.ts';
import { settled } from '#test/support/deliveries.ts';
import { accident, recently, vehicle } from '#test/support/records.ts';
import { story } from '#test/support/story.ts';
import { as, world } from '#test/support/world.ts';

const { us, heard, send, register } = story();
const placeholder = '00000000000000000';

type Accident = {
  vehicleId: string | null;
  vehicleName: string | null;
  licensePlate: string | null;
  vin: string;
};
const only = async () => (await us.api.get<Accident[]>('/accidents')).data[0];
const ingest = async (...records: object[]) => (await send(...records)).data;

/** A vehicle as `name@connection`, with `.x` behind if it is inactive, `?` with another VIN, `!` with a placeholder. */
function vehicleIn(text: string) {
  const [, of = '', at = 0, mark] = /^(\w+)(?:@(\d))?(\.x|[?!])?$/.exec(text) ?? [];
  const said = { sourceId: of, name: `The ${of}`, licensePlate: `P ${of}`, groups: [of] };
  return {
    of,
    at: Number(at),
    record: vehicle({
      ...said,
      ...(mark === '.x' && { status: 'inactive' }),
      ...(mark === '?' && { vin: 'OTHER1' }),
      ...(mark === '!' && { vin: placeholder }),
    }),
  };
}

const cases: [name: string, fleet: string, changes: object, expected: string | null][] = [
  ['the one with the VIN', 'van', {}, 'van'],
  ['the one with the VIN in lower case', 'van', { vin: '1fujgldr5clbp8834' }, 'van'],
  ['none with another VIN', 'van?', {}, null],
  ['an active one before a newer one that was sold', 'van sold.x', {}, 'van'],
  ['an active one before an older one that was sold', 'sold.x van', {}, 'van'],
  ['an active one of another connection before one that was sold', 'van@1 sold.x', {}, 'van'],
  ['one of its connection before newer ones', 'van twin@1', {}, 'van'],
  ['the newest of other connections', 'old@2 van@1', {}, 'van'],
  ['the newest of those that were sold', 'old.x van.x', {}, 'van'],
  ['none of several active ones', 'van twin', {}, null],
  ['none of several active ones of another connection', 'van@1 twin@1 sold.x', {}, null],
  ['its connection’s only one, although another has several', 'van b@1 twin@1', {}, 'van'],
  ['the one that it names, whatever its VIN', 'van? twin', { vehicle: 'van' }, 'van'],
  ['the one that it names, of several active ones', 'van twin', { vehicle: 'van' }, 'van'],
  ['the one that it names, with a placeholder', 'van', { vehicle: 'van', vin: placeholder }, 'van'],
  ['the one that it names, without a VIN', 'van', { vehicle: 'van', vin: undefined }, 'van'],
  ['by VIN until the one that it names is known', 'van', { vehicle: 'unheard-of' }, 'van'],
  ['none with a placeholder', 'van!', { vin: placeholder }, null],
  ['none without vehicles', '', {}, null],
];

it.each(cases)('the vehicle of an accident is %s', async (_, fleet, changes, expected) => {
  Object.assign(us, await world({ providers: ['motive', 'samsara', 'geotab'] }));
  const them = await world();
  await them.send(vehicle({ groups: ['theirs'] }), vehicle({ sourceId: 'van' }));
  const vehicles = fleet.split(' ').filter(Boolean).map(vehicleIn);
  for (const { at, record } of vehicles) await as(us.connections[at]?.ingestKey ?? '').send(record);
  expect(await ingest(accident(changes))).toMatchObject({ accepted: 1, rejected: [] });
  const at = vehicles.find(({ of }) => of === expected)?.at ?? 0;
  const connectionId = us.connections[at]?.id ?? '';
  expect(await only()).toMatchObject({
    vehicleId: expected && recordId(connectionId, 'vehicle', expected),
    vehicleName: expected && `The ${expected}`,
    licensePlate: expected && `P ${expected}`,
  });
});

describe('the vehicle of an accident', () => {
  const van = vehicle({ sourceId: 'van', name: 'Van', groups: ['Vans'] });
  const truck = vehicle({ sourceId: 'truck', name: 'Truck', groups: ['Trucks'] });
  const sold = { status: 'inactive' };
  const nameOf = async () => (await only())?.vehicleName;

  it('is decided again at each level, and stays between them', async () => {
    await ingest(van, accident());
    expect(await nameOf()).toBe('Van');
    await ingest({ ...van, ...sold }, truck, accident());
    expect(await nameOf()).toBe('Van');
    await ingest(accident({ notificationLevel: 2 }));
    expect(await nameOf()).toBe('Truck');
  });

  it('that becomes known later is filled in with whatever next comes of the accident', async () => {
    await ingest(accident({ vehicle: 'van' }));
    expect(await nameOf()).toBeNull();
    await ingest(van);
    expect(await ingest(accident())).toMatchObject({ accepted: 1 });
    expect(await nameOf()).toBe('Van');
    await ingest(accident({ notificationLevel: 2, vin: 'NOBODYS1' }));
    expect(await nameOf()).toBe('Van');
    await ingest(truck, accident({ notificationLevel: 3, vehicle: 'truck' }));
    expect(await nameOf()).toBe('Truck');
  });

  it('changes with the VIN', async () => {
    await ingest(van, accident());
    await ingest(accident({ notificationLevel: 2, vin: 'NOBODYS1' }));
    expect(await nameOf()).toBeNull();
  });

  it('is said to be unclear if several active ones have the VIN', async () => {
    const message =
      'is that of several active vehicles of a connection: the accident has none of them';
    const other = { sourceId: 'other', eventTime: recently, vin: '1FUJGLDR5CLBP8835' };
    const { warnings } = await ingest(van, truck, accident(other), accident());
    expect(warnings).toEqual([{ field: 'vin', message, records: 1, index: 3 }]);
    const later = await ingest(accident({ notificationLevel: 2 }));
    expect(later.warnings).toMatchObject([{ message }]);
    expect(
      await ingest({ ...truck, ...sold }, accident({ notificationLevel: 3 })),
    ).not.toHaveProperty('warnings');
    expect(await nameOf()).toBe('Van');
  });

  it('gives its VIN where the accident has none', async () => {
    const hook = await register();
    await ingest(
      van,
      accident({ vin: 'N/A', vehicle: 'van' }),
      accident({ sourceId: 'of none', vin: 'N/A' }),
    );
    await settled(hook.id, 2);
    const vins = heard.got.map(({ body }) => body.data.vin).toSorted();
    expect(vins).toEqual(['', van.vin]);
    const { data } = await us.api.get<Accident[]>('/accidents');
    expect(data.map(({ vin }) => vin).toSorted()).toEqual(vins);
  });

  it('is asked for where the VIN is missing', async () => {
    const message = 'vin is required, unless the accident names its vehicle';
    expect(await ingest(accident({ vin: undefined }))).toMatchObject({ rejected: [{ message }] });
  });

  it('is found, however many other accounts have one with its VIN', async () => {
    const them = await world();
    const vin = crypto.randomUUID().toUpperCase();
    const named = (i: number) => vehicle({ sourceId: `${vin} ${i}`, vin });
    await them.send(...Array.from({ length: maxVehicles }, (_, i) => named(i)));
    await ingest(named(0), accident({ sourceId: vin, vin }));
    expect((await only())?.vehicleId).toEqual(expect.any(String));
  });
});
