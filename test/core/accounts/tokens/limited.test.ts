import { listPage } from '#test/support/fleet.ts';
import {
  accident,
  addConnection,
  as,
  changeConnection,
  driver,
  invalid,
  issueLimited,
  operator,
  recordId,
  safetyEvent,
  signIn,
  textOf,
  trip,
  vehicle,
  type WebhookOut,
  webhookBody,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll, 'motive', 'samsara');
let limited: string;
let [ours, theirs] = ['', ''];
beforeAll(async () => {
  [ours = '', theirs = ''] = us.connections.map(({ id }) => id);
  limited = await issueLimited(us.accountId, [ours]);
  for (const { send } of us.connections)
    await send(vehicle(), driver(), trip(), safetyEvent(), accident());
});

const idOf = (connection: string) => recordId(connection, 'vehicle', 'truck-1');
const seen = async (path: string, connection?: string) =>
  (await listPage(limited, path, connection)).data.map(
    ({ connectionId, id }) => connectionId ?? id,
  );

describe('a token limited to a connection', () => {
  it('sees its own alone, whatever filter, id or connection it names', async () => {
    expect(await seen('/drivers')).toEqual([ours]);
    const refused = invalid('Invalid connection id');
    expect(await listPage(limited, '/drivers', theirs)).toMatchObject(refused);
    expect(await seen(`/trips?vehicleIds=${idOf(ours)},${idOf(theirs)}`)).toEqual([ours]);
    expect(await seen(`/trips?vehicleIds=${idOf(theirs)}`)).toEqual([]);
    expect((await as(limited).get(`/vehicles/${idOf(ours)}`)).status).toBe(200);
    expect((await as(limited).get(`/vehicles/${idOf(theirs)}`)).status).toBe(404);
  });

  it('sees no vehicle of others that is known by the VIN of its accident', async () => {
    const vin = '1HGCM82633A004352';
    const truck = { sourceId: 'hidden', name: 'Hidden', licensePlate: 'HID-1', vin };
    await us.connections[1]?.send(vehicle(truck));
    await us.send(accident({ sourceId: 'by VIN', vin }));
    const stranger = await world();
    await stranger.send(vehicle(truck));
    const strange = recordId(stranger.connection.id, 'vehicle', 'hidden');
    const id = recordId(theirs, 'vehicle', 'hidden');
    const crash = recordId(ours, 'accident', 'by VIN');
    const known = { vehicleId: id, vehicleName: 'Hidden', licensePlate: 'HID-1' };
    const unknown = { vehicleId: null, vehicleName: null, licensePlate: null };
    for (const [token, of] of [
      [us.apiToken, known],
      [limited, unknown],
      [await issueLimited(us.accountId, [ours, theirs]), known],
    ] as const) {
      const seenIn = async (path: string, connection?: string) =>
        [(await listPage(token, path, connection)).data].flat();
      for (const found of [
        await seenIn(`/accidents?vin=${vin}`),
        await seenIn(`/accidents?vin=${vin}`, ours),
        await seenIn(`/accidents/${crash}`),
      ])
        expect(found).toMatchObject([{ vin, eventId: crash, ...of }]);
      expect(await seenIn(`/accidents?vehicleIds=${id}`)).toHaveLength(of === known ? 1 : 0);
      expect(await seenIn(`/accidents?vehicleIds=${strange}`)).toEqual([]);
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
  const api = as(limited);
  const { data: own } = await create(limited, { connectionIds: [ours] });
  for (const changes of [
    {},
    { allConnections: true },
    { connectionIds: [theirs] },
    { connectionIds: [] },
  ]) {
    const path = `/webhook/${(await create(us.apiToken, changes)).data.id}`;
    for (const reply of [await api.get(path), await api.delete(path)])
      expect(reply.message).toBe('Invalid webhook id');
    const changed = await api.put(`/webhook/${own.id}`, webhookBody(us, changes));
    for (const reply of [await create(limited, changes), changed])
      expect(reply.message).toBe('Invalid connection ids');
  }
  expect((await api.get<WebhookOut[]>('/webhooks')).data.map(({ id }) => id)).toEqual([own.id]);
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
  const { post, textAt } = await signIn(us, 'admin');
  const path = '/portal/settings/tokens/limited';
  await changeConnection(ours, { name: 'City vans' });
  const fields = { name: 'one fleet', access: 'read', expires: '' };
  const made = await textOf(await post(path, { ...fields, connectionIds: ours }));
  const readOnly = as(/fds_[\w-]{49}/.exec(made)?.[0] ?? '');
  expect((await readOnly.get('/webhooks')).status).toBe(200);
  expect((await readOnly.delete('/webhook/none')).status).toBe(403);
  expect(await textAt('/portal/settings/tokens')).toMatch(/one fleet Read only Only City vans/);
  expect(await textOf(await post(path, fields))).toContain('Choose 1 to 100.');
});
