// @module-tag proof
// More than 15 s: a database is copied, lost and restored.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { runWrangler } from '#src/cli/project/wrangler.ts';
import {
  dayMs,
  driver,
  fleet,
  root,
  runToEnd,
  safetyEvent,
  sharedAccount,
  temporaryFolder,
  times,
  trip,
  until,
  vehicle,
} from '#test/support/node/index.ts';
import { boundOf } from '#test/support/row-bounds.ts';

const files = temporaryFolder();
const { stack, us } = await sharedAccount();

const start = Math.floor(Date.now() / dayMs - 300) * dayMs;
const at = (i: number) => new Date(start + i * 3_600_000).toISOString();

it('a warehouse finds the same rows in the files as clients find in the API', async () => {
  const records = [
    vehicle({ name: 'Van "1"', groups: ['Nord', 'Süd'] }),
    driver(),
    ...times(60, (i) =>
      safetyEvent({
        sourceId: `e${i}`,
        startedAt: at(i),
        incidentTypes: ['Braking', 'Crash'].slice(i % 2),
        ...(i % 3 && {
          driver: 'driver-1',
          location: { latitude: 47.5 + i / 8, longitude: -8.25 },
        }),
        ...(i % 4 && { maxSpeedKph: 80.5 + i }),
      }),
    ),
    ...times(30, (i) => trip({ sourceId: `t${i}`, startedAt: at(i), distanceKm: 12.5 })),
  ];
  const { data } = await us.send(records);
  expect(data).toMatchObject({ accepted: records.length });
  const range = `from=${at(0)}&to=${at(100)}&limit=500`;
  const list = (path: string) => us.get<Record<string, unknown>[]>(`${path}?${range}`);
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
    const of = { kind, account: us.accountId, connection: us.connectionId };
    expect(rows[0]).toMatchObject({ ...of, date: at(0) });
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
  const args = `--lists safety-events --format parquet --output ${files}`;
  const { code, err } = await fleet(stack, `export --account ${us.accountId} ${args}`);
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

type Row = { [column: string]: unknown };

/** What DuckDB reads from Parquet files: rows as the API shows them, and types of columns. */
async function readParquet(files: string, order?: string): Promise<{ rows: Row[]; types: Row }> {
  const database = await (await DuckDBInstance.create(':memory:')).connect();
  const found = await database.runAndReadAll(
    `from read_parquet('${files}') ${order ? `order by ${order}` : ''}`,
  );
  const types = found.columnNames().map((name, at) => [name, String(found.columnType(at))]);
  const rows = JSON.parse(JSON.stringify(found.getRowObjectsJS()));
  return { rows, types: Object.fromEntries(types) };
}

type Column = { name: string; type: string };

const id = 'ffffffff-ffff-7fff-bfff-ffffffffffff';

/** The value of a column that a row of the table can have, and that takes most room in a dump. */
function largest(table: string, { name, type }: Column, sql: string): string | number {
  const [, list = ''] =
    new RegExp(`\\b${name}\\s+text[^\\n]*check \\(${name} in \\(([^)]*)\\)`).exec(sql) ?? [];
  const [, choice] = [...list.matchAll(/'([^']*)'/g)].at(-1) ?? [];
  if (choice !== undefined) return choice;
  const [, least = '1'] =
    new RegExp(`check \\(${name} (?:between|in \\()\\s*(\\d+)`).exec(sql) ?? [];
  if (type !== 'TEXT') return Number(least);
  if (name === 'id' || name.endsWith('_id')) return id;
  const bytes = boundOf(table, name) ?? 0;
  return sql.includes(`json_valid(${name})`) ? `[${' '.repeat(bytes - 2)}]` : "'".repeat(bytes / 2);
}

/** Adds a row to each table, with the longest texts that it can have. Returns the tables. */
function addFullRows(path: string): string[] {
  const database = new DatabaseSync(path);
  database.exec('pragma foreign_keys = off');
  const tables = database
    .prepare(`select name, sql from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'
      and name not like 'sqlite%' and name not like 'd1%'`)
    .all() as { name: string; sql: string }[];
  for (const { name: table, sql } of tables) {
    const columns = database
      .prepare(`select name, type from pragma_table_info(?)`)
      .all(table) as Column[];
    const values = columns.map((column) => largest(table, column, sql));
    const marks = columns.map(() => '?').join(', ');
    database.prepare(`insert or ignore into "${table}" values (${marks})`).run(...values);
  }
  database.close();
  return tables.map(({ name }) => name);
}
