import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { D1Database, R2Bucket } from '@cloudflare/workers-types';
import { parquetMetadata } from 'hyparquet';
import { getPlatformProxy } from 'wrangler';
import { dayMs } from '../platform/durations.ts';
import { root } from './project/paths.ts';
import { runWrangler } from './project/wrangler.ts';

// npm run rehearse -- FOLDER: restores a backup into local stand-ins of D1 and R2, in FOLDER/restored, and checks that
// nothing is missing. The backup is FOLDER/fleet.sql, written by `wrangler d1 export`, and the bucket in
// FOLDER/archive.

const [folder = ''] = process.argv.slice(2).map((path) => resolve(path));
const dump = join(folder, 'fleet.sql');
if (!folder || !existsSync(dump)) {
  console.error('Name the folder of a backup, which holds fleet.sql and archive: npm run rehearse -- FOLDER');
  process.exit(2);
}
const restored = join(folder, 'restored');
rmSync(restored, { recursive: true, force: true });
mkdirSync(restored, { mode: 0o700 });
const config = join(restored, 'wrangler.toml');
const toml = readFileSync(join(root, 'wrangler.toml'), 'utf8');
const bindings = toml.match(/^\[\[(?:d1_databases|r2_buckets)\]\]\n(?:.+\n)+/gm) ?? [];
writeFileSync(
  config,
  `name = "rehearsal"\n${/^compatibility_date = .+\n/m.exec(toml)?.[0]}\n${bindings.join('\n')}`,
);

const executed = await runWrangler([
  ...['d1', 'execute', 'fleet', '--config', config, '--local', '--persist-to', restored],
  ...['--yes', '--file', dump],
]);
if (!executed.ok) {
  console.error(`The database cannot be restored:\n${executed.text}`);
  process.exit(1);
}
const { env, dispose } = await getPlatformProxy<{ DB: D1Database; ARCHIVE: R2Bucket }>({
  configPath: config,
  persist: { path: join(restored, 'v3') },
});
const problems: string[] = [];
const tables = await checkTables();
const files = await restoreArchive();
await dispose();
console.log(
  `database: ${tables.length} tables, ${sum(tables)} rows\narchive: ${files.length} files, ${sum(files)} rows`,
);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** Compares the rows of each table with those of the dump. Returns the counts. */
async function checkTables(): Promise<number[]> {
  const dumped = Map.groupBy(
    readFileSync(dump, 'utf8').matchAll(/^INSERT INTO "?(\w+)"?/gm),
    ([, table]) => table ?? '',
  );
  const counts: number[] = [];
  for (const [table, { length }] of dumped) {
    const rows = Number(await env.DB.prepare(`select count(*) as n from "${table}"`).first('n'));
    if (rows !== length) problems.push(`${table} has ${rows} rows, and ${length} in the backup`);
    counts.push(rows);
  }
  return counts;
}

type Day = { kind: string; account_id: string; connection_id: string; day: number; parts: string };
type Part = { file: string; rows: number; bytes: number };

/** Restores the catalogued files with their metadata. Returns the rows of each. */
async function restoreArchive(): Promise<number[]> {
  const { results } = await env.DB.prepare('select * from archived_days').all<Day>();
  const counts: number[] = [];
  for (const { kind, account_id, connection_id, day, parts } of results)
    for (const { file, bytes, ...label } of JSON.parse(parts) as Part[]) {
      const date = new Date(day * dayMs).toISOString().slice(0, 10);
      const key = `kind=${kind}/account=${account_id}/connection=${connection_id}/date=${date}/${file}`;
      const path = join(folder, 'archive', key);
      const content = existsSync(path) ? readFileSync(path) : undefined;
      if (!content || content.length !== bytes || rowsOf(content) !== label.rows) {
        problems.push(`${key} is ${content ? 'damaged' : 'missing'}`);
        continue;
      }
      await env.ARCHIVE.put(key, content, { customMetadata: { label: JSON.stringify(label) } });
      counts.push(label.rows);
    }
  return counts;
}

/** How many rows a Parquet file has, by its metadata; undefined if it is invalid. */
function rowsOf({ buffer, byteOffset, byteLength }: Buffer): number | undefined {
  try {
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer; // of a file
    return Number(parquetMetadata(bytes).num_rows);
  } catch {
    return undefined;
  }
}

function sum(counts: number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
