import {
  accident,
  as,
  dayMs,
  driver,
  issueLimited,
  listPage,
  operator,
  receiver,
  recordId,
  register,
  safetyEvent,
  settled,
  trip,
  vehicle,
  worldBefore,
} from '#test/support.ts';
import { insertTrips, move } from './archive/support.ts';

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
const seen = async (path: string) =>
  (await listPage(limited, path)).data.map(({ connectionId, id }) => connectionId ?? id);

describe('a token limited to a connection', () => {
  it('sees only its own in /changes', async () => {
    expect(new Set(await seen('/changes'))).toEqual(new Set([ours]));
    expect((await us.api.get<unknown[]>('/changes')).data.length).toBeGreaterThan(
      (await seen('/changes')).length,
    );
  });

  it('is not told of deletions of others by /changes', async () => {
    const [own, other] = [ours, theirs].map((id) => recordId(id, 'driver', 'driver-1'));
    for (const id of [own, other]) await operator.post(`/operator/drivers/${id}/erasure`, {});
    const deleted = async (token: string) => {
      const { data } = await listPage(token, '/changes?kinds=driver');
      return data.flatMap(({ action, id }) => (action === 'deleted' ? [id] : []));
    };
    expect(await deleted(limited)).toEqual([own]);
    expect((await deleted(us.apiToken)).sort()).toEqual([own, other].sort());
  });

  it('finds and changes no external id of others', async () => {
    await us.api.put(`/connections/${theirs}`, { externalId: 'POL-1' });
    expect(await seen('/connections?externalId=POL-1')).toEqual([]);
    expect((await as(limited).put(`/vehicles/${idOf(theirs)}`, { externalId: 'F-1' })).status).toBe(
      404,
    );
  });

  it('sees in /changes no vehicle of others that is known by the VIN of its accident', async () => {
    const vin = '1HGCM82633A004352';
    await us.connections[1]?.send(
      vehicle({ sourceId: 'hidden', name: 'Hidden', licensePlate: 'HID-1', vin }),
    );
    await us.send(accident({ sourceId: 'by VIN', vin }));
    const vehicleId = recordId(theirs, 'vehicle', 'hidden');
    const known = { vehicleId, vehicleName: 'Hidden', licensePlate: 'HID-1' };
    const unknown = { vehicleId: null, vehicleName: null, licensePlate: null };
    for (const [token, of] of [
      [us.apiToken, known],
      [limited, unknown],
      [await issueLimited(us.accountId, [ours, theirs]), known],
    ] as const) {
      const data = expect.objectContaining({ vin, ...of });
      const changes = (await listPage(token, '/changes?kinds=accident')).data;
      expect(changes).toContainEqual(expect.objectContaining({ data }));
    }
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
});

it('webhooks of a limited token show no delivery of a connection that they covered before', async () => {
  receiver();
  const hook = await register(us);
  for (const { send } of us.connections) await send(safetyEvent({ sourceId: 'news' }));
  const rows = await settled(hook.id, 2);
  await us.api.put(`/webhook/${hook.id}`, { ...hook, connectionIds: [ours] });
  const { data } = await listPage(limited, `/deliveries?webhookId=${hook.id}`);
  expect(data).toMatchObject([{ eventId: recordId(ours, 'safetyEvent', 'news') }]);
  const statuses = rows.map(async ({ id }) => (await as(limited).get(`/deliveries/${id}`)).status);
  expect((await Promise.all(statuses)).sort()).toEqual([200, 404]);
});
