import { env, exports as worker } from 'cloudflare:workers';
import { parquetReadObjects } from 'hyparquet';
import { newBudget, within } from '#src/core/platform/jobs/budget.ts';
import { everyMinute, runJob } from '#src/core/platform/jobs/jobs.ts';
import { withLease } from '#src/core/platform/jobs/lease.ts';
import {
  exportableLists,
  exportKeptMs,
  longestExportMs,
  maxExportsPerDay,
} from '#src/extras/exports/exports.ts';
import { pruneExports } from '#src/extras/exports/remove.ts';
import { exportLease, prepareExports } from '#src/extras/exports/run.ts';
import { jobs } from '#src/operator/jobs.ts';
import { files, interruptedAfter, lapse, withoutArchive } from '#test/extras/archive/support.ts';
import {
  accident,
  addRows,
  as,
  call,
  changeAccount,
  issueLimited,
  issueToken,
  listenToLog,
  newId,
  operator,
  ownRows,
  recordId,
  rows,
  signIn,
  toTheEnd,
  vehicle,
  world,
} from '#test/support.ts';
import {
  csvIn,
  exportable,
  exported,
  fileOf,
  old,
  quiet,
  recent,
  request,
  type Shown,
} from './support.ts';

const us = exportable();

const formats = ['csv', 'parquet'];
const find = async (id: string, token = us.apiToken) =>
  (await as(token).get<Shown>(`/exports/${id}`)).data;
const csv = async (id: string, list: string, token = us.apiToken) =>
  csvIn(await fileOf(token, id, `${list}.csv`));
/** The rows of a Parquet file, as JSON has them. */
async function parquet(id: string, list: string, token = us.apiToken) {
  const file = await (await fileOf(token, id, `${list}.parquet`)).arrayBuffer();
  return JSON.parse(
    JSON.stringify(await parquetReadObjects({ file }), (_, value) => value ?? null),
  );
}
const keys = () => files('exports/');

/** Has the job write one piece, as after an invocation that had time for no more. */
const writeOne = (bindings: Env = env) => {
  const budget = newBudget({ queries: 3 });
  return prepareExports(within(bindings, budget), Date.now(), budget);
};
/** Whether the job would find something to do. */
const isDue = async () =>
  (await rows('select 1 from exports where next_at <= ?1', Date.now())).length > 0;

describe('an export', () => {
  it('has what was asked for, and its files are there by their names once it is ready', async () => {
    const day = recent.slice(0, 10);
    const body = { lists: ['trips', 'vehicles', 'trips'], formats, from: day };
    const { message, data } = await request(us.apiToken, body);
    const wanted = { lists: ['trips', 'vehicles'], from: `${day}T00:00:00.000Z`, to: null };
    const begun = { state: 'preparing', ...wanted, connectionIds: null, files: [] };
    expect([message, data]).toMatchObject(['Export requested', begun]);
    const notFound = async (name: string) =>
      expect(await (await fileOf(us.apiToken, data.id, name)).json()).toMatchObject({
        message: 'File not found',
      });
    await notFound('trips.csv');
    await prepareExports(env);
    await notFound('drivers.csv');
    const found = await find(data.id);
    expect(found).toMatchObject({ state: 'ready', records: 4, truncated: false });
    expect((await us.api.get('/exports')).data).toEqual([found]);
    expect(found.files.map(({ name, records }) => `${records} in ${name}`).sort()).toEqual(
      ['trips', 'vehicles'].flatMap((list) => [`2 in ${list}.csv`, `2 in ${list}.parquet`]),
    );
    for (const { name, bytes } of found.files) {
      const file = await fileOf(us.apiToken, data.id, name);
      expect((await file.arrayBuffer()).byteLength).toBe(bytes);
      expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
    }
    const trips = await csv(data.id, 'trips');
    expect(trips.map(({ startedAt }) => startedAt)).toEqual([recent, recent]);
  });

  it('has what the lists and the archive have, all as CSV unless it says which', async () => {
    expect((await find(await exported(us.apiToken))).formats).toEqual(['csv']);
    const id = await exported(us.apiToken, { formats });
    for (const list of exportableLists) {
      const range = /events|trips|accidents/.test(list) ? '?from=2000-01-01&to=9999-01-01' : '';
      const items = [];
      for (const { id } of list === 'connections' ? [{ id: 'all' }] : us.connections) {
        const reader = as(us.apiToken, { 'connection-id': id });
        items.push(...(await reader.get<{ createdAt: string }[]>(`/${list}${range}`)).data);
      }
      expect(items.length).toBeGreaterThan(1);
      expect(await parquet(id, list)).toMatchObject(items);
      expect((await csv(id, list)).map(({ createdAt }) => createdAt)).toEqual(
        items.map(({ createdAt }) => createdAt),
      );
    }
    const [event] = await csv(id, 'safety-events');
    expect(event).toMatchObject({ incidentTypes: 'hard_brake|crash', startedAt: old });
  });

  it('of days without records has files without rows', async () => {
    const range = { from: '2001-01-01', to: '2001-01-02' };
    const id = await exported(us.apiToken, { lists: ['trips'], formats, ...range });
    expect([await csv(id, 'trips'), await parquet(id, 'trips')]).toEqual([[], []]);
  });

  it('may be killed before any step, and goes on from there piece by piece', {
    tags: ['proof'],
  }, async () => {
    const body = { lists: ['trips'], formats };
    const trips = (id: string, token?: string) =>
      Promise.all([csv(id, 'trips', token), parquet(id, 'trips', token)]);
    const wanted = await trips(await exported(us.apiToken, body));
    for (let steps = 0; steps < 10; steps++) {
      await rows('delete from exports');
      const { value: token } = await issueToken(us.accountId); // each may do so much in a minute
      const { data } = await request(token, body);
      await writeOne();
      await writeOne(interruptedAfter(steps)).catch(() => {});
      await lapse();
      await rows('update exports set next_at = 0 where next_at is not null');
      for (let pieces = 0; pieces < 40 && (await isDue()); pieces++) await writeOne();
      expect(await trips(data.id, token)).toEqual(wanted);
    }
  });

  it('does not hold up those of other accounts', async () => {
    const them = await world();
    await request(us.apiToken);
    await request(them.apiToken, { lists: ['connections'], formats });
    for (let pieces = 0; pieces < 4; pieces++) await writeOne();
    const done = await rows('select account_id from exports where finished_at > 0');
    expect(done).toEqual([{ account_id: them.accountId }]);
  });

  it('is left alone while something fails, and has failed after a day', async () => {
    const { lines } = listenToLog();
    const { data } = await request(us.apiToken);
    vi.spyOn(env.ARCHIVE, 'put').mockRejectedValueOnce(new Error('no bucket'));
    await prepareExports(env);
    expect(lines('fault')).toMatchObject([
      { message: 'A job failed', job: 'exports', error: 'Error: no bucket' },
    ]);
    expect([await isDue(), (await find(data.id)).state]).toEqual([false, 'preparing']);
    await rows('update exports set next_at = 0, requested_at = requested_at - ?1', longestExportMs);
    await prepareExports(env);
    expect([await isDue(), (await find(data.id)).state]).toEqual([false, 'failed']);
  });

  it.each([
    ['has been deleted goes on with the next', newId, 'ready'],
    ['is there is not ready', () => us.connection.id, 'preparing'],
  ])('whose list cannot be read on, of a connection that %s', async (_, idOf, state) => {
    const { data } = await request(us.apiToken, { lists: ['trips'] });
    const at = { list: 0, connection: { sort: 0, id: idOf() }, cursor: 'of another version' };
    await rows('update exports set place = ?1', JSON.stringify(at));
    await prepareExports(env);
    expect((await find(data.id)).state).toBe(state);
  });

  it('waits while its account is suspended', async () => {
    await request(us.apiToken);
    const doneWhile = async (status: string) => {
      await changeAccount(us, { status });
      await prepareExports(env);
      return (await rows('select 1 from exports where finished_at is not null')).length;
    };
    expect([await doneWhile('suspended'), await doneWhile('active')]).toEqual([0, 1]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['its message is lost', async () => {}],
    [
      'its message came while files of others were deleted',
      () => withLease(env, exportLease, () => runJob(env, jobs, 'exports')),
    ],
  ])('is begun by the next minute if %s', async (_, happened) => {
    await request(us.apiToken);
    await happened();
    const queued: object[] = [];
    const DELIVERIES = {
      sendBatch: async (batch: { body: object }[]) => void queued.push(...batch),
    };
    await everyMinute({ ...env, DELIVERIES } as unknown as Env, new Date(60_000), {}, jobs, 0);
    expect(queued).toContainEqual({ body: { job: 'exports' } });
  });

  it('needs a bucket', async () => {
    const bindings = { ...withoutArchive, DELIVERIES: quiet.DELIVERIES };
    const reply = await as(us.apiToken, {}, bindings).post('/exports', {});
    expect(reply).toMatchObject({ status: 400, message: 'Exports are not available here.' });
  });
});

describe('a token that is limited to connections', () => {
  let [ours, limited] = ['', ''];
  beforeEach(async () => {
    ours = us.connection.id;
    limited = await issueLimited(us.accountId, [ours]);
  });

  it('exports only what belongs to them', async () => {
    const vin = '1HGCM82633A004352';
    const [own, other] = us.connections;
    await other?.send(vehicle({ sourceId: 'seen', vin }));
    await own?.send(accident({ vin }));
    const id = await exported(limited);
    expect((await find(id, limited)).connectionIds).toEqual([ours]);
    for (const list of ['drivers', 'vehicles', 'trips', 'safety-events', 'accidents']) {
      const items = await csv(id, list, limited);
      expect(new Set(items.map((item) => item.connectionId ?? item.connection)), list).toEqual(
        new Set([ours]),
      );
    }
    const archived = expect.objectContaining({ startedAt: old });
    expect(await csv(id, 'trips', limited)).toContainEqual(archived);
    expect(await csv(id, 'connections', limited)).toMatchObject([{ id: ours }]);
    // The vehicle with its VIN is of the other connection.
    const inExport = (vehicleId: string) => expect.objectContaining({ vin, vehicleId });
    expect(await csv(id, 'accidents', limited)).toContainEqual(inExport(''));
    const seen = recordId(other?.id ?? '', 'vehicle', 'seen');
    const whole = await exported(us.apiToken);
    expect(await csv(whole, 'accidents')).toContainEqual(inExport(seen));
  });

  it('sees its own exports, and no others of the account', async () => {
    const ofAccount = await exported(us.apiToken);
    const own = await exported(limited);
    const ids = async (token: string) =>
      (await as(token).get<Shown[]>('/exports')).data.map(({ id }) => id).sort();
    expect(await ids(limited)).toEqual([own]);
    expect(await ids(us.apiToken)).toEqual([ofAccount, own].sort());
    expect(await ids(await issueLimited(us.accountId, [ours]))).toEqual([]);
    expect((await fileOf(limited, ofAccount, 'trips.csv')).status).toBe(404);
    expect((await fileOf(limited, own, 'trips.csv')).status).toBe(200);
  });
});

it('tokens and people share the limits of exports', async () => {
  const ann = await signIn(us);
  const fields = { lists: 'trips', formats: 'csv' };
  await ann.post('/portal/settings/exports', fields, { bindings: quiet });
  const body = { lists: ['trips'] };
  const refusal = async () => (await request(us.apiToken, body)).message;
  expect(await refusal()).toMatch(/^An export of this account is being prepared/);
  await prepareExports(env);
  for (let asked = 1; asked < maxExportsPerDay; asked++) await exported(us.apiToken, body);
  expect(await refusal()).toContain('at most 5 exports a day');
});

describe('the files of an export', () => {
  it('expire after a week', async () => {
    const id = await exported(us.apiToken);
    const status = async () => (await fileOf(us.apiToken, id, 'trips.csv')).status;
    await pruneExports(env, Date.now() + exportKeptMs - 60_000);
    expect(await status()).toBe(200);
    await rows('update exports set expires_at = expires_at - ?1', exportKeptMs);
    expect(await status()).toBe(404);
    await pruneExports(env);
    expect([await keys(), await rows('select 1 from exports')]).toEqual([[], []]);
  });

  it('that cannot be deleted delay no others', async () => {
    const of = { account_id: us.accountId };
    await addRows('exports', 2, (i) => ({ ...of, id: `export-${i}`, expires_at: i + 1 }));
    vi.spyOn(env.ARCHIVE, 'list').mockRejectedValueOnce(new Error('no bucket'));
    const { lines } = listenToLog();
    await pruneExports(env);
    expect(lines('fault')).toMatchObject([{ message: 'A job failed', error: 'Error: no bucket' }]);
    expect(await rows('select id from exports')).toEqual([{ id: 'export-0' }]);
  });

  const driverId = async () => String((await ownRows(us, 'drivers'))[0]?.id);
  it.each<[string, () => Promise<string>, string, object]>([
    ['a driver is erased', driverId, 'drivers/:id/erasure', {}],
    [
      'a connection is deleted',
      async () => us.connection.id,
      'connections/:id/deletion',
      { name: 'Motive' },
    ],
    [
      'the account is deleted',
      async () => us.accountId,
      'accounts/:id/deletion',
      { name: 'Acme Insurance', now: true },
    ],
  ])('are deleted when %s, and so is what is being prepared', async (_, idOf, path, body) => {
    const them = await world();
    await request(them.apiToken);
    await exported(us.apiToken);
    await request(us.apiToken);
    await writeOne();
    const ours = async () => (await keys()).filter((key) => key.includes(us.accountId)).length;
    expect(await ours()).toBeGreaterThan(0);
    const id = await idOf();
    await operator.post(`/operator/${path.replace(':id', id)}`, body);
    await toTheEnd(id);
    expect(await ours()).toBe(0);
    expect(await rows('select account_id from exports')).toEqual([{ account_id: them.accountId }]);
    expect(await keys()).not.toEqual([]);
  });
});

it('operators export as well, of a suspended account too, and without a limit a day', async () => {
  await request(us.apiToken); // which waits until the account is active
  await changeAccount(us, { status: 'suspended' });
  const body = { lists: ['vehicles'], format: 'csv', from: '2026-01-01T00:00:00Z' };
  const at = `/operator/accounts/${us.accountId}/exports`;
  const headers = { authorization: `Bearer ${env.OPERATOR_KEY}` };
  for (let n = 0; n <= maxExportsPerDay; n++) {
    await call('POST', at, { headers, body, bindings: quiet });
    await prepareExports(env);
  }
  const never = { ...body, to: '2025-01-01' };
  expect((await call('POST', at, { headers, body: never })).status).toBe(400);
  const [newest] = (await operator.get<Shown[]>(at)).data;
  const files = [{ name: 'vehicles.csv', records: 2 }];
  expect(newest).toMatchObject({ state: 'ready', files });
  const download = (of: string, name: string) =>
    worker.default.fetch(`https://fleet.example${of}/${newest?.id}/${name}`, { headers });
  expect(await csvIn(await download(at, 'vehicles.csv'))).toHaveLength(2);
  const theirs = `/operator/accounts/${(await world()).accountId}/exports`;
  for (const reply of [await download(theirs, 'vehicles.csv'), await download(at, 'trips.csv')])
    expect(reply.status).toBe(404);
});
