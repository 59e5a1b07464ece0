import { env } from 'cloudflare:workers';
import {
  accident,
  ago,
  anyTime,
  as,
  changeConnection,
  deliveriesOf,
  driver,
  issueKey,
  recently,
  recordId,
  rows,
  safetyEvent,
  settled,
  story,
  times,
  trip as tripRecord,
  value,
  vehicle,
  type WebhookOut,
  world,
} from '#test/support.ts';

const { us, heard, register } = story();
let hook: WebhookOut;
beforeEach(async () => {
  hook = await register();
});

const unknownVehicle = 'vehicle is neither known nor in the same call';

describe('a safety event', () => {
  it('reaches the webhook with exactly the envelope and payload of the spec', async () => {
    const reply = await us.send(vehicle(), safetyEvent());
    expect(reply).toMatchObject({ status: 200, data: { accepted: 2, unchanged: 0, rejected: [] } });
    const [delivery] = await settled(hook.id);
    const [got] = heard.got;
    expect(got).toMatchObject({ url: hook.url, method: 'POST' });
    expect(got?.headers).toEqual({
      'content-type': 'application/json',
      'delivery-id': delivery?.id,
      'delivery-attempt': '1',
      'user-agent': expect.stringMatching(/^FleetDataService\/\d/),
    });
    expect(got?.body).toEqual({
      timestamp: anyTime,
      type: 2,
      data: {
        eventId: recordId(us.connection.id, 'safetyEvent', 'event-1'),
        issuedOn: recently,
        translatedIncidentTypes: ['Harsh Braking'],
        eventRisk: 3,
        vehicleId: recordId(us.connection.id, 'vehicle', 'truck-1'),
        vehicleName: 'Truck 1',
        vehicleVin: '1FUJGLDR5CLBP8834',
        vehicleGroups: ['North'],
        recipients: ['safety@example.com'],
      },
    });
  });

  it('of a vehicle without VIN, groups or recipients has them empty', async () => {
    const bare = vehicle({ vin: undefined, groups: undefined });
    await us.send(bare, safetyEvent({ recipients: undefined }));
    await settled(hook.id);
    const empty = { vehicleVin: '', vehicleGroups: [], recipients: [] };
    expect(heard.got[0]?.body.data).toMatchObject(empty);
  });

  it('of a vehicle that nobody knows is refused, and the rest of the call lands', async () => {
    const reply = await us.send(
      safetyEvent(),
      vehicle({ sourceId: 'other' }),
      safetyEvent({ sourceId: 'e2', vehicle: 'other' }),
    );
    const rejected = [{ index: 0, sourceId: 'event-1', message: unknownVehicle }];
    expect(reply.data).toEqual({ accepted: 2, unchanged: 0, rejected });
    expect(await settled(hook.id)).toHaveLength(1);
    const again = await us.send(vehicle(), safetyEvent());
    expect(again.data).toMatchObject({ accepted: 2, rejected: [] });
    expect(await settled(hook.id, 2)).toHaveLength(2);
  });

  it('keeps what its vehicle and provider were called when it first came in', async () => {
    await us.send(vehicle(), safetyEvent());
    await changeConnection(us.connection.id, { tSP: 'Renamed' });
    const renamed = vehicle({ name: 'Truck 2', vin: 'VIN2', groups: ['South'] });
    await as(await issueKey(us.connection.id)).send(renamed, safetyEvent({ maxSpeedKph: 99 }));
    const { data } = await us.lists.get(`/safety-events?from=${recently}&to=${ago(0)}`);
    expect(data).toMatchObject([
      {
        tSP: 'Motive',
        vehicleName: 'Truck 1',
        vehicleVin: '1FUJGLDR5CLBP8834',
        vehicleGroups: ['North'],
        maxSpeedKph: 99,
      },
    ]);
  });

  it('that was of another vehicle has the name, VIN and groups of that one', async () => {
    const other = vehicle({
      sourceId: 'other',
      name: 'Truck 2',
      vin: undefined,
      groups: ['South'],
    });
    await us.send(vehicle(), safetyEvent());
    await us.send(other, safetyEvent({ vehicle: 'other' }));
    const { data } = await us.lists.get(`/safety-events?from=${recently}&to=${ago(0)}`);
    expect(data).toMatchObject([
      {
        vehicleId: recordId(us.connection.id, 'vehicle', 'other'),
        vehicleName: 'Truck 2',
        vehicleVin: null,
        vehicleGroups: ['South'],
      },
    ]);
  });
});

it('an accident is notified once per level, with exactly the payload of the spec', async () => {
  const location = { latitude: 39.7392, longitude: -104.9903, address: 'I-81 N, Carlisle, PA' };
  for (const notificationLevel of [1, 2, 2, 3, 1, 3])
    await us.send(accident({ notificationLevel, location, driver: 'driver-1', severity: 'high' }));
  await settled(hook.id, 3);
  const eventId = recordId(us.connection.id, 'accident', 'crash-1');
  const bodies = [1, 2, 3].map((level) => ({
    timestamp: expect.any(String),
    type: 1,
    data: {
      eventId,
      eventTime: '2026-11-20T20:00:00.000Z',
      vin: '1FUJGLDR5CLBP8834',
      connection: us.connection.id,
      tSP: 'Motive',
      location: { latitude: 39.7392, longitude: -104.9903 },
      notificationLevel: level,
      reportReady: level === 3,
      isAccurate: level >= 2,
    },
  }));
  expect(heard.got.map(({ body }) => body)).toEqual(expect.arrayContaining(bodies));
  expect(await deliveriesOf(hook.id)).toHaveLength(3);
});

describe('a trip', () => {
  const trip = (changes: object = {}) =>
    tripRecord({ driver: 'nobody yet', startedAt: '2026-11-20T20:00:00Z', ...changes });
  const listed = async () => (await us.api.get('/trips')).data;

  it('of a vehicle that nobody knows is refused; its driver may come later', async () => {
    expect((await us.send(trip())).data.rejected).toMatchObject([{ message: unknownVehicle }]);
    expect((await us.send(trip(), vehicle())).data).toMatchObject({ accepted: 2, rejected: [] });
    await us.send(driver({ sourceId: 'nobody yet' }));
    const driverId = recordId(us.connection.id, 'driver', 'nobody yet');
    expect(await listed()).toMatchObject([{ driverId }]);
  });

  it('that is still under way is completed by a later version, in any order', async () => {
    const known = { endedAt: '2026-11-20T20:55:00.000Z', distanceKm: 40 };
    const whole = trip({ ...known, sourceUpdatedAt: '2026-11-20T21:00:00Z' });
    const underWay = trip({ sourceUpdatedAt: '2026-11-20T20:00:00Z' });
    await us.send(vehicle(), whole, underWay);
    expect(await listed()).toMatchObject([known]);
    for (const version of [whole, underWay])
      expect((await us.send(version)).data).toMatchObject({ accepted: 0, unchanged: 1 });
    expect(await listed()).toMatchObject([known]);
  });
});

it('a place without an address is stored as before, so that nothing changes', async () => {
  const place = { latitude: 40.215, longitude: -77.189 };
  const sent = async (address?: string | null) =>
    (await us.send(vehicle(), safetyEvent({ location: { ...place, address } }))).data.unchanged;
  expect([await sent(), await sent(), await sent(null)]).toEqual([0, 2, 2]);
  const stored = 'select location from safety_events where connection_id = ?';
  expect(await value(stored, us.connection.id)).toBe(JSON.stringify(place));
  expect(await sent('I-81 N, Carlisle, PA')).toBe(1);
});

describe('a large call while other accounts are active', () => {
  const events = (name: string, count: number) =>
    times(count, (i) => safetyEvent({ sourceId: `${name} ${i}`, vehicle: `v${i}` }));
  const vehicles = (count: number) => times(count, (i) => vehicle({ sourceId: `v${i}` }));
  const kept = () => rows('select 1 from safety_events where connection_id = ?1', us.connection.id);
  const beOther = async () => void (await as((await world()).apiToken).get('/connections'));

  it('is taken in whatever order its records have', async () => {
    const send = async () => {
      await beOther();
      return (await us.send(...events('e', 240), ...vehicles(240), { kind: 'nothing' })).data;
    };
    expect(await send()).toMatchObject({ accepted: 480, unchanged: 0, rejected: [{ index: 480 }] });
    expect(await send()).toMatchObject({ accepted: 0, unchanged: 480 });
    expect(await kept()).toHaveLength(240);
  });

  it('is taken in whole or refused before anything is written, however many wait', async () => {
    await us.send(...vehicles(101));
    await beOther();
    const calls = times(14, (i) => us.send(...events(`call ${i},`, 101)));
    const taken = (await Promise.all(calls)).filter(({ status }) => status === 200);
    expect(taken.length).toBeLessThan(14);
    expect(await kept()).toHaveLength(taken.length * 101);
  });

  it('is written in parts, and the written ones notify even if a later one fails', async () => {
    await us.send(...vehicles(101));
    await beOther();
    await env.DB.exec(
      `create trigger full before insert on safety_events when new.source_id = 'e 100' begin select raise(abort, 'full'); end`,
    );
    expect((await us.send(...events('e', 101))).status).toBe(500);
    await env.DB.exec('drop trigger full');
    expect(await settled(hook.id, 100, 'delivered')).toHaveLength(100);
  });
});
