import { recordId } from '#src/core/platform/db/ids.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { insertTrips, move } from '#test/extras/archive/support.ts';
import { settled } from '#test/support/deliveries.ts';
import { listPage } from '#test/support/fleet.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { addRows } from '#test/support/rows.ts';
import {
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

  it('finds and changes no external id of others', async () => {
    await us.api.put(`/connections/${theirs}`, { externalId: 'POL-1' });
    expect(await seen('/connections?externalId=POL-1')).toEqual([]);
    expect((await as(limited).put(`/vehicles/${idOf(theirs)}`, { externalId: 'F-1' })).status).toBe(
      404,
    );
  });

  it('sees in /changes no vehicle of others that is known by the VIN of its accident', async () => {
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
      const api = as(token);
      const { data: changes } =
        await api.get<{ id: string; data: object }[]>('/changes?kinds=accident');
      const seenIn = changes.flatMap((change) => (change.id === crash ? change.data : []));
      expect(seenIn).toMatchObject([{ vin, eventId: crash, ...of }]);
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
});

it('webhooks of a limited token show no delivery of a connection that they covered before', async () => {
  receiver();
  const { data: hook } = await us.api.post<WebhookOut>('/webhook', webhookBody(us));
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
