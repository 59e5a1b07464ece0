import { env } from 'cloudflare:workers';
import { recordId } from '#src/core/platform/db/ids.ts';
import { deliveriesOf, settled } from '#test/support/deliveries.ts';
import {
  accident,
  recently,
  safetyEvent,
  trip as tripRecord,
  vehicle,
} from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';
import {
  as,
  issueKey,
  operator,
  type WebhookOut,
  webhookBody,
  world,
} from '#test/support/world.ts';

const { us, heard, register } = story();
let hook: WebhookOut;
beforeEach(async () => {
  hook = await register();
});

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
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
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

  it('is notified once, however often and in however many calls it is sent', async () => {
    await us.send(vehicle());
    const replies = await Promise.all([1, 2, 3].map(() => us.send(safetyEvent(), safetyEvent())));
    expect(replies.reduce((sum, { data }) => sum + data.accepted, 0)).toBe(1);
    expect(replies.reduce((sum, { data }) => sum + data.unchanged, 0)).toBe(5);
    await settled(hook.id);
    expect(await deliveriesOf(hook.id)).toHaveLength(1);
  });

  it('is not notified when loaded as history, even if it is sent again', async () => {
    const body = { records: [vehicle(), safetyEvent()], notify: false };
    await us.connector.post('/ingest', body);
    await us.send(safetyEvent());
    expect(await deliveriesOf(hook.id)).toEqual([]);
  });

  it('of a vehicle without VIN, groups or recipients has them empty', async () => {
    await us.send(
      vehicle({ vin: undefined, groups: undefined }),
      safetyEvent({ recipients: undefined }),
    );
    await settled(hook.id);
    expect(heard.got[0]?.body.data).toMatchObject({
      vehicleVin: '',
      vehicleGroups: [],
      recipients: [],
    });
  });

  it('of a vehicle that nobody knows is refused, and the rest of the call lands', async () => {
    const reply = await us.send(
      safetyEvent(),
      vehicle({ sourceId: 'other' }),
      safetyEvent({ sourceId: 'e2', vehicle: 'other' }),
    );
    expect(reply.data).toEqual({
      accepted: 2,
      unchanged: 0,
      rejected: [
        { index: 0, sourceId: 'event-1', message: 'vehicle is neither known nor in the same call' },
      ],
    });
    expect(await settled(hook.id)).toHaveLength(1);
    const again = await us.send(vehicle(), safetyEvent());
    expect(again.data).toMatchObject({ accepted: 2, rejected: [] });
    expect(await settled(hook.id, 2)).toHaveLength(2);
  });

  it('goes to those webhooks alone that asked for events of its connection', async () => {
    await us.api.put(`/webhook/${hook.id}`, webhookBody(us, { notificationTypes: [1] }));
    const { id: noConnection } = await register({ connectionIds: [] });
    const { id: eventsOnly } = await register({ notificationTypes: [2] });
    await us.send(vehicle(), safetyEvent());
    await settled(eventsOnly);
    expect(await deliveriesOf(hook.id)).toEqual([]);
    expect(await deliveriesOf(noConnection)).toEqual([]);
  });

  it('keeps what its vehicle and provider were called when it first came in', async () => {
    await us.send(vehicle(), safetyEvent());
    await operator.patch(`/operator/connections/${us.connection.id}`, { tSP: 'Renamed' });
    const renamed = vehicle({ name: 'Truck 2', vin: 'VIN2', groups: ['South'] });
    await as(await issueKey(us.connection.id)).send(renamed, safetyEvent({ maxSpeedKph: 99 }));
    expect(
      (await us.lists.get(`/safety-events?from=${recently}&to=${new Date().toISOString()}`)).data,
    ).toMatchObject([
      {
        tSP: 'Motive',
        vehicleName: 'Truck 1',
        vehicleVin: '1FUJGLDR5CLBP8834',
        vehicleGroups: ['North'],
        maxSpeedKph: 99,
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
  const data = heard.got
    .map(({ body }) => body.data)
    .sort((a, b) => Number(a.notificationLevel) - Number(b.notificationLevel));
  expect(data).toEqual(
    [1, 2, 3].map((level) => ({
      eventId,
      eventTime: '2026-11-20T20:00:00.000Z',
      vin: '1FUJGLDR5CLBP8834',
      connection: us.connection.id,
      tSP: 'Motive',
      location: { latitude: 39.7392, longitude: -104.9903 },
      notificationLevel: level,
      reportReady: level === 3,
      isAccurate: level >= 2,
    })),
  );
  expect(heard.got.every(({ body }) => body.type === 1)).toBe(true);
  expect(await deliveriesOf(hook.id)).toHaveLength(3);
});

it('an accident says what its connector says of report and accuracy', async () => {
  await us.send(accident({ reportReady: true, isAccurate: false, notificationLevel: 2 }));
  await settled(hook.id);
  expect(heard.got[0]?.body.data).toMatchObject({ reportReady: true, isAccurate: false });
});

it('a vehicle is never overwritten by an older version', async () => {
  const at = (hour: number, name: string) =>
    vehicle({ name, sourceUpdatedAt: `2026-11-20T${hour}:00:00Z` });
  await us.send(at(20, 'newer'));
  expect((await us.send(at(10, 'older'))).data).toMatchObject({ accepted: 0, unchanged: 1 });
  await us.send(at(22, 'newest'), at(21, 'between'));
  await us.send(safetyEvent());
  await settled(hook.id);
  expect(heard.got[0]?.body.data).toMatchObject({ vehicleName: 'newest' });
});

describe('a trip', () => {
  const trip = (changes: object = {}) =>
    tripRecord({ driver: 'nobody yet', startedAt: '2026-11-20T20:00:00Z', ...changes });
  const listed = async () =>
    (
      await us.api.get<{ driverId: string; endedAt: string | null; distanceKm: number | null }[]>(
        '/trips',
      )
    ).data;

  it('of a vehicle that nobody knows is refused; its driver may come later', async () => {
    const reply = await us.send(trip());
    expect(reply.data.rejected).toMatchObject([
      { index: 0, sourceId: 'trip-1', message: 'vehicle is neither known nor in the same call' },
    ]);
    expect((await us.send(trip(), vehicle())).data).toMatchObject({ accepted: 2, rejected: [] });
    const driver = await us.send({ kind: 'driver', sourceId: 'nobody yet', name: 'Ann' });
    expect(driver.data.accepted).toBe(1);
    const [only] = (await us.api.get<{ id: string }[]>('/drivers')).data;
    expect((await listed())[0]?.driverId).toBe(only?.id);
  });

  it('that is still under way is completed by a later version, in any order', async () => {
    const versions = [
      trip({ sourceUpdatedAt: '2026-11-20T20:00:00Z' }),
      trip({
        sourceUpdatedAt: '2026-11-20T21:00:00Z',
        endedAt: '2026-11-20T20:55:00Z',
        distanceKm: 40,
      }),
    ];
    await us.send(vehicle(), ...versions.toReversed());
    expect(await listed()).toMatchObject([{ endedAt: '2026-11-20T20:55:00.000Z', distanceKm: 40 }]);
    for (const version of versions.toReversed())
      expect((await us.send(version)).data).toMatchObject({ accepted: 0, unchanged: 1 });
    expect(await listed()).toMatchObject([{ distanceKm: 40 }]);
  });
});

it('a connection with a map of its own speaks its own words', async () => {
  await us.send(vehicle());
  const map = { 'Rule 7': ['Speeding', 'Harsh Braking'] };
  const path = `/operator/connections/${us.connection.id}`;
  expect((await operator.patch(path, { incidentTypeMap: { x: ['No Type'] } })).message).toContain(
    'incidentTypeMap must map',
  );
  expect((await operator.patch(path, { incidentTypeMap: map })).status).toBe(200);
  await as(await issueKey(us.connection.id)).send(safetyEvent({ incidentTypes: ['Rule 7'] }));
  await settled(hook.id);
  expect(heard.got[0]?.body.data).toMatchObject({
    translatedIncidentTypes: ['Speeding', 'Harsh Braking'],
  });
});

it('a place without an address is stored as before, so that nothing changes', async () => {
  const place = { latitude: 40.215, longitude: -77.189 };
  const startedAt = '2026-11-20T01:00:00.000Z';
  await us.send(vehicle(), safetyEvent({ startedAt, location: place }));
  for (const address of [null, undefined])
    expect(
      (await us.send(safetyEvent({ startedAt, location: { ...place, address } }))).data,
    ).toMatchObject({
      unchanged: 1,
    });
  const stored = 'select location from safety_events where connection_id = ?';
  expect(await value(stored, us.connection.id)).toBe(JSON.stringify(place));
  const located = safetyEvent({
    startedAt,
    location: { ...place, address: 'I-81 N, Carlisle, PA' },
  });
  expect((await us.send(located)).data).toMatchObject({ unchanged: 0 });
});

describe('a large call while other accounts are active', () => {
  const events = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) =>
      safetyEvent({ sourceId: `${name} ${i}`, vehicle: `v${i}` }),
    );
  const beOther = async () => void (await as((await world()).apiToken).get('/connections'));

  it('is taken in whatever order its records have', async () => {
    const known = Array.from({ length: 240 }, (_, i) => vehicle({ sourceId: `v${i}` }));
    const send = async () => {
      await beOther();
      return (await us.send(...events('e', 240), ...known, { kind: 'nothing' })).data;
    };
    expect(await send()).toMatchObject({ accepted: 480, unchanged: 0, rejected: [{ index: 480 }] });
    expect(await send()).toMatchObject({ accepted: 0, unchanged: 480 });
    const kept = await rows(
      'select 1 from safety_events where connection_id = ?1',
      us.connection.id,
    );
    expect(kept).toHaveLength(240);
  });

  it('is taken in whole or refused before anything is written, however many wait', async () => {
    await us.send(...Array.from({ length: 101 }, (_, i) => vehicle({ sourceId: `v${i}` })));
    await beOther();
    const calls = Array.from({ length: 14 }, (_, i) => us.send(...events(`call ${i},`, 101)));
    const taken = (await Promise.all(calls)).filter(({ status }) => status === 200);
    expect(taken.length).toBeLessThan(14);
    const kept = await rows(
      'select 1 from safety_events where connection_id = ?1',
      us.connection.id,
    );
    expect(kept).toHaveLength(taken.length * 101);
  });

  it('is written in parts, and the written ones notify even if a later one fails', async () => {
    await us.send(...Array.from({ length: 101 }, (_, i) => vehicle({ sourceId: `v${i}` })));
    await beOther();
    await env.DB.exec(
      `create trigger full before insert on safety_events when new.source_id = 'e 100' begin select raise(abort, 'full'); end`,
    );
    expect((await us.send(...events('e', 101))).status).toBe(500);
    await env.DB.exec('drop trigger full');
    const deliveries = await settled(hook.id, 100);
    expect(deliveries).toHaveLength(100);
    expect(deliveries.every(({ status }) => status === 'delivered')).toBe(true);
  });
});
