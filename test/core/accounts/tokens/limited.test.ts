import { recordId } from '../../../../src/core/platform/db/ids.ts';
import { dayMs } from '../../../../src/core/platform/durations.ts';
import { insertTrips, move } from '../../../support/archive.ts';
import { settled } from '../../../support/deliveries.ts';
import { listPage } from '../../../support/fleet.ts';
import { signIn, textOf } from '../../../support/portal.ts';
import { receiver } from '../../../support/receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '../../../support/records.ts';
import { addRows } from '../../../support/rows.ts';
import {
  addConnection,
  as,
  issueLimited,
  operator,
  type WebhookOut,
  webhookBody,
  worldBefore,
} from '../../../support/world.ts';

const us = worldBefore(beforeAll, { providers: ['motive', 'samsara'] });
let limited: string;
let [ours, theirs] = ['', ''];
beforeAll(async () => {
  [ours = '', theirs = ''] = us.connections.map(({ id }) => id);
  limited = await issueLimited(us.accountId, [ours]);
  for (const { ingestKey } of us.connections)
    await as(ingestKey).send(vehicle(), driver(), trip(), safetyEvent(), accident());
});

const idOf = (connection: string, kind: 'vehicle' | 'trip' = 'vehicle') =>
  recordId(connection, kind, `${kind === 'vehicle' ? 'truck' : kind}-1`);
const seen = async (path: string, connection?: string) =>
  (await listPage(limited, path, connection)).data.map(
    ({ connectionId, id }) => connectionId ?? id,
  );

describe('a token limited to a connection', () => {
  it.each(['/connections', '/drivers', '/trips', '/accidents', '/changes'])(
    'sees only its own in %s',
    async (path) => {
      expect(new Set(await seen(path))).toEqual(new Set([ours]));
      expect((await us.api.get<unknown[]>(path)).data.length).toBeGreaterThan(
        (await seen(path)).length,
      );
    },
  );

  it.each(['/vehicles', '/safety-events?from=2026-01-01&to=2100-01-01', '/trips', '/changes'])(
    'names only its own for %s',
    async (path) => {
      expect(await seen(path, ours)).toContain(ours);
      expect(new Set(await seen(path, 'all'))).toEqual(new Set([ours]));
      const reply = await as(limited, { 'connection-id': theirs }).get(path);
      expect(reply).toMatchObject({ status: 400, message: 'Invalid connection id' });
    },
  );

  it('is not told of deletions of others by /changes', async () => {
    for (const connection of [ours, theirs])
      await operator.post(
        `/operator/drivers/${recordId(connection, 'driver', 'driver-1')}/erasure`,
        {},
      );
    const deleted = async (token: string) => {
      const { data } =
        await as(token).get<{ id: string; action: string }[]>('/changes?kinds=driver');
      return data.filter(({ action }) => action === 'deleted').map(({ id }) => id);
    };
    expect(await deleted(limited)).toEqual([recordId(ours, 'driver', 'driver-1')]);
    expect(await deleted(us.apiToken)).toHaveLength(2);
  });

  it('finds nothing of others by a filter or an id', async () => {
    expect(await seen(`/trips?vehicleIds=${idOf(ours)},${idOf(theirs)}`)).toEqual([ours]);
    expect(await seen(`/trips?vehicleIds=${idOf(theirs)}`)).toEqual([]);
    await us.api.put(`/connections/${theirs}`, { externalId: 'POL-1' });
    expect(await seen('/connections?externalId=POL-1')).toEqual([]);
    expect((await as(limited).get(`/vehicles/${idOf(ours)}`)).status).toBe(200);
    expect((await as(limited).get(`/vehicles/${idOf(theirs)}`)).status).toBe(404);
    expect((await as(limited).put(`/vehicles/${idOf(theirs)}`, { externalId: 'F-1' })).status).toBe(
      404,
    );
  });

  it('sees no vehicle of others that is known by the VIN of its accident', async () => {
    const vin = '1HGCM82633A004352';
    const [own, other] = us.connections.map(({ ingestKey }) => as(ingestKey));
    const truck = { sourceId: 'hidden', name: 'Hidden', licensePlate: 'HID-1', vin };
    await other?.send(vehicle(truck));
    await own?.send(accident({ sourceId: 'by VIN', vin }));
    const id = recordId(theirs, 'vehicle', 'hidden');
    const crash = recordId(ours, 'accident', 'by VIN');
    const known = { vehicleId: id, vehicleName: 'Hidden', licensePlate: 'HID-1' };
    const unknown = { vehicleId: null, vehicleName: null, licensePlate: null };
    for (const [token, of] of [
      [us.apiToken, known],
      [limited, unknown],
      [await issueLimited(us.accountId, [ours, theirs]), known],
    ] as const) {
      const { api, at } = { api: as(token), at: as(token, { 'connection-id': ours }) };
      const { data: changes } =
        await api.get<{ id: string; data: object }[]>('/changes?kinds=accident');
      const seenIn = [
        await api.get<{ eventId: string }[]>(`/accidents?vin=${vin}`).then(({ data }) => data),
        await at.get<{ eventId: string }[]>(`/accidents?vin=${vin}`).then(({ data }) => data),
        [await api.get(`/accidents/${crash}`).then(({ data }) => data)],
        changes.flatMap((change) => (change.id === crash ? change.data : [])),
      ];
      expect(seenIn).toMatchObject(seenIn.map(() => [{ vin, eventId: crash, ...of }]));
      const { data: found } = await api.get<unknown[]>(`/accidents?vehicleIds=${id}`);
      expect(found).toHaveLength(of === known ? 1 : 0);
    }
  });

  it('is not told what was deleted of others', async () => {
    await addRows('changes', 2, (n) => ({
      ...{ account_id: us.accountId, action: 'deleted', connection_id: [ours, theirs][n] },
      ...{ seq: Date.now() + 1000 + n, records: JSON.stringify({ trip: [`gone ${n}`] }) },
    }));
    const deleted = async (token: string) =>
      (await listPage(token, '/changes?kinds=trip')).data.flatMap(
        ({ id }) => /gone .*/.exec(id) ?? [],
      );
    expect(await deleted(us.apiToken)).toEqual(['gone 0', 'gone 1']);
    expect(await deleted(limited)).toEqual(['gone 0']);
  });

  it('reads archived days of its own alone', async () => {
    const old = 100 * dayMs;
    const days = [0, 1].map((connection) => ({ startedAt: old, connection }));
    const [first, second] = await insertTrips(us, days);
    for (const connection of [0, 1]) await move(us, old, { connection });
    const ids = async (token: string) =>
      (await listPage(token, '/trips?from=1970-01-01&to=1971-01-01')).data.map(({ id }) => id);
    expect((await ids(us.apiToken)).sort()).toEqual([first, second].sort());
    expect(await ids(limited)).toEqual([first]);
  });

  it('does not get connections that are added later', async () => {
    await addConnection(us.accountId);
    expect(await seen('/connections')).toEqual([ours]);
  });
});

const create = (token: string, changes: object) =>
  as(token).post<WebhookOut>('/webhook', webhookBody(us, changes));

it('webhooks of a limited token are those that cover none but its connections', async () => {
  for (const changes of [
    {},
    { allConnections: true },
    { connectionIds: [theirs] },
    { connectionIds: [] },
  ]) {
    const { data } = await create(us.apiToken, changes);
    expect((await as(limited).get(`/webhook/${data.id}`)).message).toBe('Invalid webhook id');
    expect((await as(limited).delete(`/webhook/${data.id}`)).message).toBe('Invalid webhook id');
    expect((await create(limited, changes)).message).toBe('Invalid connection ids');
  }
  const { data } = await create(limited, { connectionIds: [ours] });
  const { data: all } = await as(limited).get<WebhookOut[]>('/webhooks');
  expect(all.map(({ id }) => id)).toEqual([data.id]);
  for (const changes of [{}, { allConnections: true }, { connectionIds: [] }])
    expect((await as(limited).put(`/webhook/${data.id}`, webhookBody(us, changes))).message).toBe(
      'Invalid connection ids',
    );
});

it('webhooks of a limited token show no delivery of a connection that they covered before', async () => {
  receiver();
  const { data: hook } = await create(us.apiToken, {});
  for (const { ingestKey } of us.connections)
    await as(ingestKey).send(safetyEvent({ sourceId: 'news' }));
  const rows = await settled(hook.id, 2);
  const body = { ...webhookBody(us, { connectionIds: [ours] }), url: hook.url };
  await us.api.put(`/webhook/${hook.id}`, body);
  const { data } = await as(limited).get<{ id: string; eventId: string }[]>(
    `/deliveries?webhookId=${hook.id}`,
  );
  expect(data.map(({ eventId }) => eventId)).toEqual([recordId(ours, 'safetyEvent', 'news')]);
  const statuses = rows.map(async ({ id }) => (await as(limited).get(`/deliveries/${id}`)).status);
  expect((await Promise.all(statuses)).sort()).toEqual([200, 404]);
});

const generate = (connectionIds: unknown) =>
  operator.post(`/operator/accounts/${us.accountId}/tokens`, { name: 'x', connectionIds });

it.each([
  ['of another account or unknown', () => [ours, crypto.randomUUID()], 'Invalid connection ids'],
  ['none, which would be as good as all', () => [], 'connectionIds must be 1 to 100 UUIDs'],
])('generating one refuses connections: %s', async (_, ids, message) => {
  expect(await generate(ids())).toMatchObject({ status: 400, message });
});

it('generating one in the portal says which connections it has', async () => {
  const person = await signIn(us, 'admin');
  const path = '/portal/settings/tokens/limited';
  await operator.patch(`/operator/connections/${ours}`, { name: 'City vans' });
  const fields = { name: 'one fleet', access: 'read', expires: '' };
  expect(await textOf(await person.post(path, { ...fields, connectionIds: ours }))).toMatch(
    /fds_[\w-]{49}/,
  );
  expect(await textOf(await person.get('/portal/settings/tokens'))).toMatch(
    /one fleet Read only Only City vans/,
  );
  expect(await textOf(await person.post(path, fields))).toContain('must be 1 to 100 UUIDs');
});
