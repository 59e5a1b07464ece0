import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parquetMetadata } from 'hyparquet';
import { dayMs } from '../platform/durations.ts';

// npm run rehearse -- FOLDER: restores a backup's database into SQLite, on which D1 stands, in FOLDER/restored, and
// checks that the archive has everything that it catalogues. The backup is FOLDER/fleet.sql, written by
// `wrangler d1 export`, and the bucket in FOLDER/archive.

const [folder = ''] = process.argv.slice(2).map((path) => resolve(path));
const dump = join(folder, 'fleet.sql');
if (!folder || !existsSync(dump)) {
  console.error('Name the folder of a backup, which holds fleet.sql and archive: npm run rehearse -- FOLDER');
  process.exit(2);
}
const restored = join(folder, 'restored');
rmSync(restored, { recursive: true, force: true });
mkdirSync(restored, { mode: 0o700 });
// As D1 does, for the rows of a dump may come before those that they refer to.
const database = new DatabaseSync(join(restored, 'fleet.sqlite'), { enableForeignKeyConstraints: false });
const text = readFileSync(dump, 'utf8');
database.exec(text);

const problems: string[] = [];
const tables = [...Map.groupBy(text.matchAll(/^INSERT INTO "?(\w+)"?/gm), ([, table]) => table ?? '')].map(
  ([table, { length }]) => {
    const rows = Number(database.prepare(`select count(*) as n from "${table}"`).get()?.n);
    if (rows !== length) problems.push(`${table} has ${rows} rows, and ${length} in the backup`);
    return rows;
  },
);
const files = database
  .prepare(
    `select kind, account_id as account, connection_id as connection, day, part.value ->> 'file' as file,
       part.value ->> 'rows' as rows, part.value ->> 'bytes' as bytes
     from archived_days, json_each(parts) as part`,
  )
  .all()
  .flatMap(({ kind, account, connection, day, file, rows, bytes }) => {
    const date = new Date(Number(day) * dayMs).toISOString().slice(0, 10);
    const key = `kind=${kind}/account=${account}/connection=${connection}/date=${date}/${file}`;
    const path = join(folder, 'archive', key);
    const content = existsSync(path) ? readFileSync(path) : undefined;
    if (content && content.length === bytes && rowsOf(content) === rows) return [Number(rows)];
    problems.push(`${key} is ${content ? 'damaged' : 'missing'}`);
    return [];
  });
console.log(
  `database: ${tables.length} tables, ${sum(tables)} rows\narchive: ${files.length} files, ${sum(files)} rows`,
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

function sum(counts: number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
