import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { D1Database, R2Bucket } from '@cloudflare/workers-types';
import { parquetMetadata } from 'hyparquet';
import { getPlatformProxy } from 'wrangler';
import { dayMs } from '../core/platform/durations.ts';
import { partsOf, sizeWarning } from './deploy/restore.ts';
import { readToml } from './project/toml.ts';
import { runWrangler } from './project/wrangler.ts';

// npm run rehearse -- FOLDER: restores a backup into a local D1 and a local R2, in FOLDER/restored, and checks that
// nothing is missing. The backup is FOLDER/fleet.sql, written by `wrangler d1 export`, and the bucket in
// FOLDER/archive.

const [folder = ''] = process.argv.slice(2).map((path) => resolve(path));
const dump = join(folder, 'fleet.sql');
if (!folder || !existsSync(dump)) {
  console.error(
    'Name the folder of a backup, which holds fleet.sql and archive: npm run rehearse -- FOLDER',
  );
  process.exit(2);
}
const restored = join(folder, 'restored');
rmSync(restored, { recursive: true, force: true });
mkdirSync(restored, { mode: 0o700 });
const configPath = join(restored, 'wrangler.json');
const { compatibility_date, d1_databases, r2_buckets } = readToml();
writeFileSync(
  configPath,
  JSON.stringify({ name: 'rehearsal', compatibility_date, d1_databases, r2_buckets }),
);
const at = ['--config', configPath, '--local', '--persist-to', restored];
const warning = sizeWarning(statSync(dump).size);
if (warning) console.error(`Warning: ${warning}`);
const rowsDumped = new Map<string, number>();
const part = join(restored, 'part.sql');
for await (const sql of partsOf(dump)) {
  for (const [, table = ''] of sql.matchAll(/^INSERT INTO "?(\w+)"?/gm))
    rowsDumped.set(table, (rowsDumped.get(table) ?? 0) + 1);
  writeFileSync(part, sql, 'latin1');
  const { ok, text } = await runWrangler([
    'd1',
    'execute',
    'fleet',
    ...at,
    '--yes',
    '--file',
    part,
  ]);
  if (!ok) {
    console.error(`The database cannot be restored:\n${text}`);
    process.exit(1);
  }
}
rmSync(part);
const persist = { path: join(restored, 'v3') };
const { env, dispose } = await getPlatformProxy<{ DB: D1Database; ARCHIVE: R2Bucket }>({
  configPath,
  persist,
});

const problems: string[] = [];
const restoredRows = { database: 0, archive: 0 };
let files = 0;
for (const [table, dumped] of rowsDumped) {
  const rows = Number(await env.DB.prepare(`select count(*) as n from "${table}"`).first('n'));
  if (rows !== dumped) problems.push(`${table} has ${rows} rows, and ${dumped} in the backup`);
  restoredRows.database += rows;
}

type File = { folder: string; day: number; file: string; rows: number; bytes: number };

const { results } = await env.DB.prepare(
  `select 'kind=' || kind || '/account=' || account_id || '/connection=' || connection_id as folder, day,
     part.value ->> 'file' as file, part.value ->> 'rows' as rows, part.value ->> 'bytes' as bytes
   from archived_days, json_each(parts) as part`,
).all<File>();
for (const { folder: of, day, file, rows, bytes } of results) {
  const key = `${of}/date=${new Date(day * dayMs).toISOString().slice(0, 10)}/${file}`;
  const path = join(folder, 'archive', key);
  const content = existsSync(path) ? readFileSync(path) : undefined;
  if (content && content.length === bytes && rowsOf(content) === rows) {
    await env.ARCHIVE.put(key, content);
    restoredRows.archive += rows;
    files++;
  } else problems.push(`${key} is ${content ? 'damaged' : 'missing'}`);
}
await dispose();
console.log(
  `database: ${rowsDumped.size} tables, ${restoredRows.database} rows\narchive: ${files} files, ${restoredRows.archive} rows`,
);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** How many rows a Parquet file has, by its metadata; undefined if it is invalid. */
function rowsOf({ buffer, byteOffset, byteLength }: Buffer): number | undefined {
  try {
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer; // of a file
    return Number(parquetMetadata(bytes).num_rows);
  } catch {
    return undefined;
  }
}
