import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { root } from '#src/cli/project/paths.ts';
import { runWrangler } from '#src/cli/project/wrangler.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { runToEnd } from '#test/support/node/child.ts';
import { readParquet } from '#test/support/node/duckdb.ts';
import { temporaryFolder } from '#test/support/node/folder.ts';
import { addFullRows } from '#test/support/node/full-rows.ts';
import { api, fleet, listed, sharedAccount, until } from '#test/support/node/journey.ts';
import { driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';

const files = temporaryFolder();
const { stack, us } = await sharedAccount();

const start = Math.floor(Date.now() / dayMs - 300) * dayMs;
const at = (i: number) => new Date(start + i * 3_600_000).toISOString();

it('a warehouse finds the same rows in the files as clients find in the API', async () => {
  const records = [
    vehicle({ name: 'Van "1"', groups: ['Nord', 'Süd'] }),
    driver(),
    ...Array.from({ length: 60 }, (_, i) =>
      safetyEvent({
        ...{
          sourceId: `e${i}`,
          startedAt: at(i),
          incidentTypes: ['Braking', 'Crash'].slice(i % 2),
        },
        ...(i % 3 && {
          driver: 'driver-1',
          location: { latitude: 47.5 + i / 8, longitude: -8.25 },
        }),
        ...(i % 4 && { maxSpeedKph: 80.5 + i }),
      }),
    ),
    ...Array.from({ length: 30 }, (_, i) =>
      trip({ sourceId: `t${i}`, startedAt: at(i), distanceKm: 12.5 }),
    ),
  ];
  const { data } = await api(stack, us.ingestKey, 'POST', '/ingest', { records });
  expect(data).toMatchObject({ accepted: records.length });
  const range = `from=${at(0)}&to=${at(100)}&limit=500`;
  const list = (path: string) => listed<Record<string, unknown>>(stack, us, `${path}?${range}`);
  const before = { 'safety-events': await list('/safety-events'), trips: await list('/trips') };
  await until('everything is archived', async () => {
    await stack.minute(0); // a full hour
    return copyBucket(dirname(stack.certificates.caFile), files).length === 3 + 2;
  });
  expect(await list('/safety-events')).toEqual(before['safety-events']);

  for (const [kind, items] of Object.entries(before)) {
    const { rows } = await readParquet(
      `${files}/kind=${kind}/account=*/connection=*/date=*/*.parquet`,
      'date, "startedAt", id',
    );
    expect(rows).toMatchObject(items);
    const of = {
      kind,
      account: us.accountId,
      connection: us.connectionId,
      date: at(0).slice(0, 10),
    };
    expect(rows[0]).toMatchObject(of);
  }
  const { types } = await readParquet(`${files}/kind=safety-events/*/*/*/*.parquet`);
  expect(types).toMatchObject({
    id: 'VARCHAR',
    startedAt: 'TIMESTAMP WITH TIME ZONE',
    location: 'STRUCT("latitude" DOUBLE, "longitude" DOUBLE, "address" VARCHAR)',
    eventRisk: 'INTEGER',
    incidentTypes: 'VARCHAR[]',
  });
});

it('an export has the same rows', async () => {
  const args = ['--lists', 'safety-events', '--format', 'parquet', '--output', files];
  const { code, err } = await fleet(stack, 'export', '--account', us.accountId, ...args);
  expect([code, err]).toEqual([0, '']);
  const copy = join(files, 'safety-events.parquet');
  onTestFinished(() => rmSync(copy));
  const exported = await readParquet(copy);
  const archived = await readParquet(
    `${files}/kind=safety-events/*/*/*/*.parquet`,
    '"startedAt", id',
  );
  expect(archived.rows).toMatchObject(exported.rows);
  expect(archived.types).toMatchObject(exported.types);
});

it('a backup can be restored, and a rehearsal says what is missing', async () => {
  const backup = temporaryFolder();
  const config = join(backup, 'wrangler.toml');
  cpSync(join(root, 'wrangler.toml'), config);
  // Where `wrangler d1 export --local` looks.
  cpSync(join(dirname(stack.certificates.caFile), 'state'), join(backup, '.wrangler/state'), {
    recursive: true,
  });
  // In each table a row that is as large as one can be.
  const databases = readdirSync(backup, { recursive: true }).map((name) =>
    join(backup, String(name)),
  );
  const filled = databases
    .filter((path) => /D1DatabaseObject.*\.sqlite$/.test(path))
    .flatMap(addFullRows);
  expect(filled.filter((table) => table === 'pulls')).toHaveLength(1);
  const dump = join(backup, 'fleet.sql');
  const exporting = ['d1', 'export', 'fleet', '--local', '--config', config, '--output', dump];
  const { ok, text } = await runWrangler(exporting);
  expect(ok, text).toBe(true);
  cpSync(files, join(backup, 'archive'), { recursive: true });
  const [damaged = '', missing = ''] = readdirSync(join(backup, 'archive'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.parquet'));
  writeFileSync(join(backup, 'archive', damaged), 'PAR1');
  rmSync(join(backup, 'archive', missing));
  const { code, out, err } = await runToEnd('src/cli/rehearse.ts', [backup]);
  expect([code, out], err).toEqual([
    1,
    expect.stringMatching(/^database: \d+ tables, \d{2,} rows\narchive: 3 files, \d+ rows\n$/),
  ]);
  // Tests beside this one have archived days as well, of which nothing was copied.
  const ours = err.split('\n').filter((line) => line.includes(us.accountId));
  expect(ours.sort()).toEqual([`${damaged} is damaged`, `${missing} is missing`].sort());

  const copy = join(backup, 'copy');
  const keys = copyBucket(join(backup, 'restored'), copy);
  expect(keys).toHaveLength(3);
  for (const key of keys)
    expect(readFileSync(join(copy, key))).toEqual(readFileSync(join(files, key)));
});

/** Copies what the local bucket in a folder has of ours into another, and returns its keys. */
function copyBucket(from: string, to: string): string[] {
  const inBucket = () =>
    readdirSync(from, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.parentPath.includes('v3/r2/'))
      .map((entry) => join(entry.parentPath, entry.name));
  const objects = inBucket()
    .filter((path) => path.endsWith('.sqlite'))
    .flatMap((path) => {
      const database = new DatabaseSync(path, { readOnly: true });
      const has = database.prepare(`select 1 from sqlite_master where name = '_mf_objects'`).get();
      const rows = has
        ? database.prepare('select key, blob_id as blob from _mf_objects').all()
        : [];
      database.close();
      return rows.filter(({ key }) => String(key).includes(us.accountId));
    });
  const paths = inBucket(); // after the catalog, whose newest object may have just come
  for (const { key, blob } of objects) {
    const target = join(to, String(key));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, readFileSync(paths.find((path) => path.endsWith(String(blob))) ?? ''));
  }
  return objects.map(({ key }) => String(key));
}
