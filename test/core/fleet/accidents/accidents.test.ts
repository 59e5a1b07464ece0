import { env } from 'cloudflare:workers';
import { maxVehicles } from '#src/core/fleet/accidents/store.ts';
import {
  accident,
  addConnection,
  as,
  driver,
  issueKey,
  recently,
  settled,
  story,
  times,
  vehicle,
  world,
} from '#test/support.ts';

const { us, heard, send, register } = story();
const ingest = async (...records: object[]) => (await send(...records)).data;
const list = async () => (await us.api.get<{ [field: string]: unknown }[]>('/accidents')).data;

it('an accident in the list has what a claim needs as far as known', async () => {
  await ingest(accident({ dismissed: true }));
  const unknown = { maxSpeedKph: null, severity: null, driverId: null, driverName: null };
  expect(await list()).toMatchObject([{ ...unknown, vehicleName: null, dismissed: true }]);
  const said = { maxSpeedKph: 80, severity: 'low', notificationLevel: 2, dismissed: false };
  const judged = { reportReady: true, isAccurate: false };
  await ingest(vehicle(), driver(), accident({ ...said, ...judged, driver: 'driver-1' }));
  const names = { vehicleName: 'Truck 1', driverName: 'Ann' };
  expect(await list()).toMatchObject([{ ...said, ...judged, ...names }]);
});

it('a call that fails before its accident is stored can be sent again, and tells it once', async () => {
  const hook = await register();
  const call = () => send(vehicle(), accident());
  await env.DB.exec(
    `create trigger full before insert on accidents begin select raise(abort, 'full'); end`,
  );
  expect((await call()).status).toBe(500);
  await env.DB.exec('drop trigger full');
  expect(await list()).toEqual([]);
  expect((await call()).data).toMatchObject({ accepted: 1, unchanged: 1 });
  expect((await call()).data).toMatchObject({ accepted: 0, unchanged: 2 });
  expect(await settled(hook.id)).toHaveLength(1);
});

it('a call changes as many accidents as it may have, with the longest reports', async () => {
  const call = (report: string) =>
    times(500, (i) => {
      const reportUrl = `https://reports.example.com/${report.repeat(1_700)}`;
      return accident({ sourceId: `crash-${i}`, reportUrl });
    });
  for (const report of ['a', 'b'])
    expect(await ingest(...call(report))).toMatchObject({ accepted: 500 });
});

describe('the vehicle of an accident', () => {
  const van = vehicle({ sourceId: 'van', name: 'Van' });
  const truck = vehicle({ sourceId: 'truck', name: 'Truck' });

  it.each([
    ['the one with its VIN, of any connection', {}, 'Van'],
    ['the one that it names, whatever its VIN', { vehicle: 'truck' }, 'Truck'],
  ])('is %s, and none of other accounts', async (_, named, vehicleName) => {
    const { id } = await addConnection(us.accountId);
    await as(await issueKey(id)).send(van);
    await (await world()).send(vehicle());
    await ingest({ ...truck, vin: 'OTHER1', licensePlate: 'P 1' }, accident(named));
    const licensePlate = vehicleName === 'Truck' ? 'P 1' : null;
    expect(await list()).toMatchObject([{ vehicleName, licensePlate }]);
  });

  it('is said to be unclear if several active ones have the VIN', async () => {
    const message =
      'is that of several active vehicles of a connection: the accident has none of them';
    const other = { sourceId: 'other', eventTime: recently, vin: '1FUJGLDR5CLBP8835' };
    const { warnings } = await ingest(van, truck, accident(other), accident());
    expect(warnings).toEqual([{ field: 'vin', message, records: 1, index: 3 }]);
    const sold = { ...truck, status: 'inactive' };
    expect(await ingest(sold, accident())).not.toHaveProperty('warnings');
  });

  it('gives its VIN where the accident has none', async () => {
    const hook = await register();
    const vin = 'N/A';
    await ingest(van, accident({ vin, vehicle: 'van' }), accident({ sourceId: 'of none', vin }));
    await settled(hook.id, 2);
    const vins = heard.got.map(({ body }) => body.data.vin).toSorted();
    expect(vins).toEqual(['', van.vin]);
    expect((await list()).map((item) => item.vin).toSorted()).toEqual(vins);
  });

  it('is found, however many other accounts have one with its VIN', async () => {
    const vin = crypto.randomUUID().toUpperCase();
    const named = (i: number) => vehicle({ sourceId: `${vin} ${i}`, vin });
    await (await world()).send(...times(maxVehicles, (i) => named(i)));
    await ingest(named(0), accident({ sourceId: vin, vin }));
    expect(await list()).toMatchObject([{ vehicleId: expect.any(String) }]);
  });
});
