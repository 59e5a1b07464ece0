import { recordId } from '#src/core/platform/db/ids.ts';
import { listPage } from '#test/support/fleet.ts';
import { signIn, textOf } from '#test/support/portal.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import {
  addConnection,
  as,
  issueLimited,
  operator,
  type WebhookOut,
  webhookBody,
  worldBefore,
} from '#test/support/world.ts';

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
  it.each(['/connections', '/drivers', '/trips', '/accidents'])(
    'sees only its own in %s',
    async (path) => {
      expect(new Set(await seen(path))).toEqual(new Set([ours]));
      expect((await us.api.get<unknown[]>(path)).data.length).toBeGreaterThan(
        (await seen(path)).length,
      );
    },
  );

  it.each(['/vehicles', '/safety-events?from=2026-01-01&to=2100-01-01', '/trips'])(
    'names only its own for %s',
    async (path) => {
      expect(await seen(path, ours)).toContain(ours);
      expect(new Set(await seen(path, 'all'))).toEqual(new Set([ours]));
      const reply = await as(limited, { 'connection-id': theirs }).get(path);
      expect(reply).toMatchObject({ status: 400, message: 'Invalid connection id' });
    },
  );

  it('finds nothing of others by a filter or an id', async () => {
    expect(await seen(`/trips?vehicleIds=${idOf(ours)},${idOf(theirs)}`)).toEqual([ours]);
    expect(await seen(`/trips?vehicleIds=${idOf(theirs)}`)).toEqual([]);
    expect((await as(limited).get(`/vehicles/${idOf(ours)}`)).status).toBe(200);
    expect((await as(limited).get(`/vehicles/${idOf(theirs)}`)).status).toBe(404);
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
      const seenIn = [
        await api.get<{ eventId: string }[]>(`/accidents?vin=${vin}`).then(({ data }) => data),
        await at.get<{ eventId: string }[]>(`/accidents?vin=${vin}`).then(({ data }) => data),
        [await api.get(`/accidents/${crash}`).then(({ data }) => data)],
      ];
      expect(seenIn).toMatchObject(seenIn.map(() => [{ vin, eventId: crash, ...of }]));
      const { data: found } = await api.get<unknown[]>(`/accidents?vehicleIds=${id}`);
      expect(found).toHaveLength(of === known ? 1 : 0);
    }
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
