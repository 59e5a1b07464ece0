import { env, exports as worker } from 'cloudflare:workers';
import { parse } from 'csv-parse/sync';
import type { InferOutput } from 'valibot';
import { lists } from '#src/core/fleet/lists/registry.ts';
import { recordId } from '#src/core/platform/db/ids.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { archive } from '#src/extras/archive/job.ts';
import { maxExportRecords, maxExportsPerDay } from '#src/extras/exports/exports.ts';
import { prepareExports } from '#src/extras/exports/run.ts';
import type { Export } from '#src/extras/exports/schema.ts';
import { emptyArchive, withoutArchive } from '#test/extras/archive/support.ts';
import { signIn } from '#test/support/portal.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { as, issueLimited, issueToken, operator, world, worldBefore } from '#test/support/world.ts';

type Shown = InferOutput<typeof Export>;

const old = new Date(Date.now() - 300 * dayMs).toISOString();
const recent = new Date(Date.now() - 2 * dayMs).toISOString();
const vin = '1HGCM82633A004352';

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara'] });
let [ours, theirs] = ['', ''];
beforeEach(async () => {
  await emptyArchive();
  [ours = '', theirs = ''] = us.connections.map(({ id }) => id);
  // The other connection first, whose vehicle then has the VIN of our accident.
  for (const [n, { ingestKey }] of [...us.connections.entries()].toReversed())
    await as(ingestKey).send(
      ...(n === 1 ? [vehicle({ sourceId: 'seen', vin })] : []),
      vehicle(),
      driver(),
      trip({ sourceId: 'old', startedAt: old, driver: 'driver-1' }),
      trip({ sourceId: 'recent', startedAt: recent }),
      safetyEvent({ startedAt: old }),
      accident({ eventTime: recent, vin }),
    );
  await archive(env);
});

/** No message starts the job: the tests do. */
const quiet = { ...env, DELIVERIES: { sendBatch: async () => {} } as unknown as Queue };
const request = (token: string, body: object = {}) =>
  as(token, {}, quiet).post<Shown>('/exports', body);
const find = async (token: string, id: string) =>
  (await as(token).get<Shown>(`/exports/${id}`)).data;
const fetchFile = (token: string, id: string, name: string) =>
  worker.default.fetch(`https://fleet.example/exports/${id}/files/${name}`, {
    headers: { 'x-api-key': token },
  });
const read = async (token: string, id: string, list: string): Promise<Record<string, string>[]> =>
  parse(await (await fetchFile(token, id, `${list}.csv`)).text(), { columns: true });

async function exported(token: string, body?: object): Promise<string> {
  const { status, data } = await request(token, body);
  expect(status).toBe(200);
  await prepareExports(env);
  return data.id;
}

it('an export by API token has what was asked for, and its files can be read back', async () => {
  const day = recent.slice(0, 10);
  const body = { lists: ['trips', 'vehicles', 'trips'], formats: ['csv', 'parquet'], from: day };
  const { message, data } = await request(us.apiToken, body);
  const wanted = { lists: ['trips', 'vehicles'], from: `${day}T00:00:00.000Z`, to: null };
  const begun = { state: 'preparing', ...wanted, connectionIds: null, files: [] };
  expect([message, data]).toMatchObject(['Export requested', begun]);
  await prepareExports(env);
  const found = await find(us.apiToken, data.id);
  expect(found).toMatchObject({ state: 'ready', records: 5, truncated: false });
  expect((await us.api.get('/exports')).data).toEqual([found]);
  expect(found.files.map(({ name, records }) => [name, records]).sort()).toEqual([
    ['trips.csv', 2],
    ['trips.parquet', 2],
    ['vehicles.csv', 3],
    ['vehicles.parquet', 3],
  ]);
  for (const { name, bytes } of found.files) {
    const file = await fetchFile(us.apiToken, data.id, name);
    expect((await file.arrayBuffer()).byteLength).toBe(bytes);
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
  }
  const trips = await read(us.apiToken, data.id, 'trips');
  expect(trips.map(({ sourceId }) => sourceId)).toEqual(['recent', 'recent']);
});

it('an export by API token has all lists as CSV unless it says which, and says if records are missing', async () => {
  const { data } = await request(us.apiToken);
  await rows('update exports set records = ?1', maxExportRecords - 5);
  await prepareExports(env);
  const found = await find(us.apiToken, data.id);
  expect(found).toMatchObject({ formats: ['csv'], truncated: true });
  expect(found.lists).toHaveLength(lists.length);
});

it('a file of an export by API token is found once it is ready, by its name', async () => {
  const { data } = await request(us.apiToken, { lists: ['trips'] });
  const messageOf = async (name: string) => {
    const reply = await fetchFile(us.apiToken, data.id, name);
    return [reply.status, Object(await reply.json()).message];
  };
  expect(await messageOf('trips.csv')).toEqual([404, 'File not found']);
  await prepareExports(env);
  expect((await fetchFile(us.apiToken, data.id, 'trips.csv')).status).toBe(200);
  expect(await messageOf('vehicles.csv')).toEqual([404, 'File not found']);
});

it('the exports of an account are unknown to others', async () => {
  const id = await exported(us.apiToken);
  const them = await world();
  expect((await them.api.get('/exports')).data).toEqual([]);
  const other = await them.api.get(`/exports/${id}`);
  expect(other).toMatchObject({ status: 404, message: 'Export not found' });
  expect((await fetchFile(them.apiToken, id, 'trips.csv')).status).toBe(404);
});

describe('a token that is limited to connections', () => {
  let limited: string;
  beforeEach(async () => {
    limited = await issueLimited(us.accountId, [ours]);
  });

  it('exports only what belongs to them', async () => {
    const id = await exported(limited);
    expect((await find(limited, id)).connectionIds).toEqual([ours]);
    for (const list of ['drivers', 'vehicles', 'trips', 'safety-events', 'accidents']) {
      const items = await read(limited, id, list);
      expect(items.length, list).toBeGreaterThan(0);
      expect(new Set(items.map((item) => item.connectionId ?? item.connection))).toEqual(
        new Set([ours]),
      );
    }
    expect((await read(limited, id, 'trips')).map(({ startedAt }) => startedAt)).toContain(old);
    expect((await read(limited, id, 'connections')).map((one) => one.id)).toEqual([ours]);
    // The vehicle with its VIN is of the other connection.
    expect((await read(limited, id, 'accidents'))[0]).toMatchObject({ vin, vehicleId: '' });
    const all = await exported(us.apiToken);
    expect((await read(us.apiToken, all, 'accidents'))[0]).toMatchObject({
      vehicleId: recordId(theirs, 'vehicle', 'seen'),
    });
  });

  it('sees its own exports, and no others of the account', async () => {
    const ofAccount = await exported(us.apiToken);
    const own = await exported(limited);
    const ids = async (token: string) =>
      (await as(token).get<Shown[]>('/exports')).data.map(({ id }) => id).sort();
    expect(await ids(limited)).toEqual([own]);
    expect(await ids(us.apiToken)).toEqual([ofAccount, own].sort());
    expect(await ids(await issueLimited(us.accountId, [ours]))).toEqual([]);
    expect((await as(limited).get(`/exports/${ofAccount}`)).status).toBe(404);
    expect((await fetchFile(limited, ofAccount, 'trips.csv')).status).toBe(404);
    expect((await fetchFile(us.apiToken, own, 'trips.csv')).status).toBe(200);
  });
});

it('a read-only token lists and downloads exports, and asks for none', async () => {
  const id = await exported(us.apiToken, { lists: ['trips'] });
  const { value: readOnly } = await issueToken(us.accountId, { readOnly: true });
  expect((await find(readOnly, id)).state).toBe('ready');
  expect(await read(readOnly, id, 'trips')).toHaveLength(4);
  expect((await request(readOnly)).status).toBe(403);
});

it('a revoked token gets no export, not even its own', async () => {
  const { id: tokenId, value } = await issueToken(us.accountId);
  const id = await exported(value, { lists: ['trips'] });
  await operator.delete(`/operator/tokens/${tokenId}`);
  expect((await request(value)).status).toBe(401);
  expect((await as(value).get('/exports')).status).toBe(401);
  expect((await fetchFile(value, id, 'trips.csv')).status).toBe(401);
});

it('tokens and people share the limits of exports, and 20 requests a minute are enough', async () => {
  const ann = await signIn(us);
  const fields: [string, string][] = [
    ['lists', 'trips'],
    ['formats', 'csv'],
  ];
  await ann.post('/portal/settings/exports', fields, { bindings: quiet });
  const body = { lists: ['trips'] };
  const inProgress = /^An export of this account is being prepared/;
  expect((await request(us.apiToken, body)).message).toMatch(inProgress);
  await prepareExports(env);
  for (let asked = 1; asked < maxExportsPerDay; asked++) await exported(us.apiToken, body);
  const { status, message } = await request(us.apiToken, body);
  expect([status, message]).toEqual([400, expect.stringContaining('at most 5 exports a day')]);
  const refused = new Set<number>();
  for (let calls = 0; calls < 30; calls++) refused.add((await request(us.apiToken, body)).status);
  expect([...refused]).toEqual([400, 429]);
});

it('an export by API token is in the audit log and in the portal, by its name', async () => {
  const { value } = await issueToken(us.accountId, {
    name: 'Warehouse',
    connectionIds: [ours, theirs],
  });
  const id = await exported(value, { lists: ['trips'] });
  await fetchFile(value, id, 'trips.csv');
  const ann = await signIn(us);
  expect(await ann.textAt('/portal/settings/exports')).toMatch(
    /Trips Of 2 connections\. All days .* by Warehouse Ready/,
  );
  const log = await ann.textAt('/portal/settings/audit');
  expect(log).toMatch(
    /export downloaded: trips\.csv API token Warehouse .* export requested API token Warehouse/,
  );
});

it('an export by API token needs a bucket, and a range that is not empty', async () => {
  const without = as(us.apiToken, {}, { ...withoutArchive, DELIVERIES: quiet.DELIVERIES });
  const reply = await without.post('/exports', {});
  expect(reply).toMatchObject({ status: 400, message: 'Exports are not available here.' });
  const range = await request(us.apiToken, { from: '2026-11-21', to: '2026-11-20' });
  expect(range).toMatchObject({ status: 400, message: 'from must be before to' });
});
