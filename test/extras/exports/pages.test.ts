import { env, exports } from 'cloudflare:workers';
import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import { dayMs } from '#src/core/platform/durations.ts';
import { newBudget, within } from '#src/core/platform/jobs/budget.ts';
import { everyMinute } from '#src/core/platform/jobs/jobs.ts';
import { archive } from '#src/extras/archive/job.ts';
import {
  exportableLists,
  exportKeptMs,
  longestExportMs,
  maxExportRecords,
  maxExportsPerDay,
} from '#src/extras/exports/exports.ts';
import { prepareExports, pruneExports } from '#src/extras/exports/run.ts';
import { jobs } from '#src/operator/jobs.ts';
import {
  bucket,
  emptyArchive,
  interruptedAfter,
  lapse,
  withoutArchive,
} from '#test/extras/archive/support.ts';
import { keepEmails } from '#test/support/emails.ts';
import { listenToLog } from '#test/support/log.ts';
import { origin, personBefore, signIn, textOf } from '#test/support/portal.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { addRows, rows, value } from '#test/support/rows.ts';
import { as, call, operator, world, worldBefore } from '#test/support/world.ts';

const path = '/portal/settings/exports';
const old = new Date(Date.now() - 300 * dayMs).toISOString();
const recent = new Date(Date.now() - 2 * dayMs).toISOString();

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara'] });
const ann = personBefore(beforeEach, us);
beforeEach(async () => {
  await emptyArchive();
  await rows('delete from exports');
  for (const { ingestKey } of us.connections)
    await as(ingestKey).send(
      vehicle(),
      driver(),
      trip({ sourceId: 'old', startedAt: old, driver: 'driver-1' }),
      trip({
        sourceId: 'recent',
        startedAt: recent,
        startLocation: { latitude: 1.5, longitude: -2 },
      }),
      safetyEvent({ startedAt: old, incidentTypes: ['hard_brake', 'crash'] }),
      accident({ eventTime: recent }),
    );
  await archive(env);
});

/** No message starts the job: the tests do. */
const quiet = { ...env, DELIVERIES: { sendBatch: async () => {} } as unknown as Queue };
type Fields = [name: string, value: string][];
const both: Fields = ['csv', 'parquet'].map((format) => ['formats', format]);
const everything: Fields = [
  ...exportableLists.map((list): [string, string] => ['lists', list]),
  ...both,
];
const request = (fields: Fields = everything, person = ann, bindings: Env = quiet) =>
  person.post(path, fields, { bindings });
/** What the page says of a form that is refused. */
async function refusal(fields?: Fields): Promise<string> {
  const reply = await request(fields);
  expect(reply.status).toBe(400);
  return textOf(reply);
}

/** Has the job write one piece, as after an invocation that had time for no more. */
const writeOne = (bindings: Env = env) => {
  const budget = newBudget({ queries: 3 });
  return prepareExports(within(bindings, budget), Date.now(), budget);
};
/** Whether the job would find something to do. */
const isDue = async () =>
  (await rows('select 1 from exports where next_at <= ?1', Date.now())).length > 0;

/** The id of the account's export that is prepared. */
const prepared = () =>
  value<string>('select id from exports where account_id = ?1 and finished_at > 0', us.accountId);

/** Asks for an export, and has it prepared. Returns its id. */
async function exported(fields = everything): Promise<string> {
  expect((await request(fields)).status).toBe(303);
  await prepareExports(env);
  return prepared();
}
const fileAt = (id: string, name: string) => ann.get(`${path}/${id}/${name}`);
const csv = async (id: string, list: string): Promise<Record<string, string>[]> =>
  parse(await (await fileAt(id, `${list}.csv`)).text(), { columns: true });
/** What the API lists, connection by connection. */
async function listed(list: string): Promise<Record<string, unknown>[]> {
  const range = /events|trips|accidents/.test(list) ? '?from=2000-01-01&to=9999-01-01' : '';
  const read = async (connection: object) =>
    (await as(us.apiToken, { ...connection }).get<Record<string, unknown>[]>(`/${list}${range}`))
      .data;
  if (list === 'connections') return read({});
  return (await Promise.all(us.connections.map(({ id }) => read({ 'connection-id': id })))).flat();
}

/** The rows of a Parquet file, as JSON has them. */
async function parquet(id: string, list: string): Promise<Record<string, unknown>[]> {
  const file = await (await fileAt(id, `${list}.parquet`)).arrayBuffer();
  return JSON.parse(
    JSON.stringify(await parquetReadObjects({ file }), (_, value) => value ?? null),
  );
}
const keys = async () => (await bucket.list({ prefix: 'exports/' })).objects.map(({ key }) => key);

describe('an export', () => {
  it('is emailed when it is ready, and has what the lists and the archive have', async () => {
    const { sent } = keepEmails();
    const id = await exported();
    expect(sent()).toMatchObject([{ to: ann.email, subject: 'Your export is ready' }]);
    expect(sent()[0]?.text).toMatch(
      /14 records of Acme Insurance can be downloaded until .* UTC\./,
    );
    expect(sent()[0]?.text).toContain(origin + path);
    expect(await isDue()).toBe(false);

    for (const list of exportableLists) {
      const items = await listed(list);
      expect(items.length).toBeGreaterThan(1);
      expect(await parquet(id, list)).toMatchObject(items);
      const columns = await csv(id, list);
      expect(columns.map(({ createdAt }) => createdAt)).toEqual(
        items.map(({ createdAt }) => createdAt),
      );
    }
    expect((await csv(id, 'safety-events'))[0]).toMatchObject({
      incidentTypes: 'hard_brake|crash',
      startedAt: old,
    });
    expect(Object.fromEntries((await fileAt(id, 'trips.csv')).headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="trips.csv"',
      'cache-control': 'private, no-store',
    });
    expect(await ann.textAt(path)).toMatch(/Ready .* trips\.csv 4 records, 2 KB/);
    expect(await ann.textAt('/portal/settings/audit')).toMatch(
      /export downloaded: trips\.csv .* Changed account Acme Insurance export requested/,
    );
  });

  it('whose email is refused is ready all the same, and the log does not have the address', async () => {
    const { raw, lines } = listenToLog();
    const refusal = Object.assign(new Error(`no ${ann.email}`), { code: 'E_RECIPIENT_SUPPRESSED' });
    keepEmails().send.mockRejectedValue(refusal);
    const id = await exported();
    expect((await fileAt(id, 'trips.csv')).status).toBe(200);
    expect(lines('fault')).toMatchObject([
      { message: 'A job failed', error: expect.stringContaining('E_RECIPIENT_SUPPRESSED') },
    ]);
    expect(raw.join()).not.toContain(ann.email);
  });

  it('has the lists, the days and the formats that were asked for', async () => {
    const day = recent.slice(0, 10);
    const lists: Fields = ['trips', 'vehicles'].map((list) => ['lists', list]);
    const id = await exported([...lists, ['from', day], ['to', day], ['formats', 'csv']]);
    expect((await csv(id, 'trips')).map(({ sourceId }) => sourceId)).toEqual(['recent', 'recent']);
    expect(await csv(id, 'vehicles')).toHaveLength(2);
    expect((await fileAt(id, 'trips.parquet')).status).toBe(404);
    expect((await fileAt(id, 'drivers.csv')).status).toBe(404);
    await rows('delete from exports');
    const none = await exported([
      ['lists', 'trips'],
      ['from', '2001-01-01'],
      ['to', '2001-01-01'],
      ...both,
    ]);
    expect([await csv(none, 'trips'), await parquet(none, 'trips')]).toEqual([[], []]);
  });

  it('may be killed before any step, and goes on from there piece by piece', async () => {
    const fields: Fields = [['lists', 'trips'], ...both];
    const trips = async (id: string) => [await csv(id, 'trips'), await parquet(id, 'trips')];
    const wanted = await trips(await exported(fields));
    for (let steps = 0; steps < 10; steps++) {
      await rows('delete from exports');
      Object.assign(ann, await signIn(us)); // each may do so much in a minute
      await request(fields);
      await writeOne();
      await writeOne(interruptedAfter(steps)).catch(() => {});
      await lapse();
      await rows('update exports set next_at = 0 where next_at is not null');
      for (let pieces = 0; pieces < 40 && (await isDue()); pieces++) await writeOne();
      expect(await trips(await prepared())).toEqual(wanted);
    }
  });

  it('does not hold up those of other accounts', async () => {
    const them = await world();
    const bob = await signIn(them);
    await request();
    await request([['lists', 'connections'], ...both], bob);
    for (let pieces = 0; pieces < 4; pieces++) await writeOne();
    const done = await rows('select account_id from exports where finished_at > 0');
    expect(done).toEqual([{ account_id: them.accountId }]);
  });

  it('is left alone while something fails, and has failed after a day', async () => {
    const { lines } = listenToLog();
    await request();
    const ARCHIVE = {
      ...bucket,
      put: () => Promise.reject(new Error('no bucket')),
    } as unknown as R2Bucket;
    await prepareExports({ ...env, ARCHIVE });
    expect(lines('fault')).toMatchObject([
      { message: 'A job failed', job: 'exports', error: 'Error: no bucket' },
    ]);
    expect(await isDue()).toBe(false);
    expect(await ann.textAt(path)).toContain('Preparing, 0 records so far');
    await rows('update exports set next_at = 0, requested_at = requested_at - ?1', longestExportMs);
    await prepareExports(env);
    expect(await ann.textAt(path)).toContain('Failed. Request it again.');
    expect(await isDue()).toBe(false);
  });

  it('waits while its account is suspended', async () => {
    await request();
    const doneWhile = async (status: string) => {
      await operator.patch(`/operator/accounts/${us.accountId}`, { status });
      await prepareExports(env);
      return (await rows('select 1 from exports where finished_at is not null')).length;
    };
    expect([await doneWhile('suspended'), await doneWhile('active')]).toEqual([0, 1]);
  });

  it('is begun by the next minute if its message is lost', async () => {
    await request();
    const queued: object[] = [];
    const DELIVERIES = {
      sendBatch: async (batch: { body: object }[]) => void queued.push(...batch),
    };
    await everyMinute({ ...env, DELIVERIES } as unknown as Env, new Date(60_000), {}, jobs, 0);
    expect(queued).toContainEqual({ body: { job: 'exports' } });
  });

  it('ends with the most records that it can have, and says so', async () => {
    const { sent } = keepEmails();
    await request();
    await rows('update exports set records = ?1', maxExportRecords - 3);
    await prepareExports(env);
    const [one] = await rows('select records, finished_at > 0 as done from exports');
    expect(one).toEqual({ records: maxExportRecords, done: 1 });
    expect(await ann.textAt(path)).toContain('The first 2,000,000 records: choose fewer days');
    expect(sent()[0]?.text).toContain(
      'That is the most that an export can have: choose fewer days for the rest.',
    );
  });
});

it('asking for an export is for admins, and for one at a time and five a day', async () => {
  const member = await signIn(us, 'member');
  expect((await request(everything, member)).status).toBe(403);
  for (let asked = 0; asked < maxExportsPerDay; asked++) {
    expect((await request([['lists', 'connections'], ...both])).status).toBe(303);
    expect(await refusal()).toContain('is being prepared');
    await prepareExports(env);
  }
  expect((await member.get(`${path}/${await prepared()}/connections.csv`)).status).toBe(403);
  const seen = await member.textAt(path);
  expect(seen).toContain('connections.csv 2 records');
  expect(seen).not.toContain('Download');
  expect(await refusal()).toContain('at most 5 exports a day');
});

it('asking for an export names what is wrong with the form', async () => {
  expect(await refusal([['lists', 'secrets'], ['from', '2026-02-30'], ...both])).toContain(
    'Must be a date',
  );
  expect(await refusal(both)).toContain('Choose at least one.');
});

it('asking for an export is not possible without a bucket, and the page says so', async () => {
  const bindings = { ...withoutArchive, DELIVERIES: quiet.DELIVERIES };
  expect((await request(everything, ann, bindings)).status).toBe(400);
  expect(await rows('select 1 from exports')).toEqual([]);
  expect(await textOf(await ann.get(path, { bindings }))).toContain(
    'Exports are not available here',
  );
});

it('the files of an export expire after a week', async () => {
  const id = await exported();
  await pruneExports(env, Date.now() + exportKeptMs - 60_000);
  expect((await fileAt(id, 'trips.csv')).status).toBe(200);
  await rows('update exports set expires_at = expires_at - ?1', exportKeptMs);
  expect((await fileAt(id, 'trips.csv')).status).toBe(404);
  await pruneExports(env);
  expect([await keys(), await rows('select 1 from exports')]).toEqual([[], []]);
});

it('the files of an export that cannot be deleted delay no others', async () => {
  await addRows('exports', 2, (i) => ({
    id: `export-${i}`,
    account_id: us.accountId,
    expires_at: i + 1,
  }));
  const list = (options: R2ListOptions) =>
    options.prefix?.includes('export-0')
      ? Promise.reject(new Error('no bucket'))
      : bucket.list(options);
  const { lines } = listenToLog();
  await pruneExports({ ...env, ARCHIVE: { ...bucket, list } as unknown as R2Bucket });
  expect(lines('fault')).toMatchObject([{ message: 'A job failed', error: 'Error: no bucket' }]);
  expect(await rows('select id from exports')).toEqual([{ id: 'export-0' }]);
});

it.each([
  ['a driver is erased', async () => `drivers/${await driverId()}/erasure`, {}],
  ['a connection is deleted', () => `connections/${us.connection.id}/deletion`, { name: 'Motive' }],
  [
    'the files of an export the account is deleted',
    () => `accounts/${us.accountId}/deletion`,
    { name: 'Acme Insurance', now: true },
  ],
])(
  'the files of an export are deleted when %s, and so is what is being prepared',
  async (_, task, body) => {
    const other = await world();
    await request(everything, await signIn(other));
    await exported();
    await request();
    await writeOne();
    const ours = async () => (await keys()).filter((key) => key.includes(us.accountId)).length;
    expect(await ours()).toBeGreaterThan(0);
    await deleted(await task(), body);
    expect(await ours()).toBe(0);
    expect(await rows('select account_id from exports')).toEqual([{ account_id: other.accountId }]);
    expect(await keys()).not.toEqual([]);
  },
);

const driverId = () => value('select id from drivers where account_id = ?1', us.accountId);

/** Asks for a deletion, and goes on with it to its end. */
async function deleted(path: string, body: object) {
  await operator.post(`/operator/${path}`, body);
  const next = `/operator/deletions/${path.split('/')[1]}/continue`;
  for (let left: unknown = true; left; )
    left = (await operator.post<{ deletion: unknown }>(next, {})).data.deletion;
}

it('operators export as well, of a suspended account too, and without a limit a day', async () => {
  await rows("update accounts set status = 'suspended' where id = ?1", us.accountId);
  const body = { lists: ['vehicles'], format: 'csv', from: '2026-01-01T00:00:00Z' };
  const at = `/operator/accounts/${us.accountId}/exports`;
  const headers = { authorization: `Bearer ${env.OPERATOR_KEY}` };
  for (let n = 0; n <= maxExportsPerDay; n++) {
    const { data } = await call<{ id: string }>('POST', at, { headers, body, bindings: quiet });
    await prepareExports(env);
    const [newest] = (await operator.get<{ id: string }[]>(at)).data;
    const files = [{ name: 'vehicles.csv', records: 2 }];
    expect(newest).toMatchObject({ id: data.id, state: 'ready', files });
  }
  const [{ id } = { id: '' }] = (await operator.get<{ id: string }[]>(at)).data;
  const download = (of: string, name: string) =>
    exports.default.fetch(`https://fleet.example${of}/${id}/${name}`, { headers });
  expect(await (await download(at, 'vehicles.csv')).text()).toContain('Truck 1');
  const theirs = `/operator/accounts/${(await world()).accountId}/exports`;
  for (const reply of [await download(theirs, 'vehicles.csv'), await download(at, 'trips.csv')])
    expect(reply.status).toBe(404);
  const unknown = await operator.post(`/operator/accounts/${crypto.randomUUID()}/exports`, body);
  expect(unknown).toMatchObject({ status: 400, message: 'Unknown account' });
});
