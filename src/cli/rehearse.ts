import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { D1Database, R2Bucket } from '@cloudflare/workers-types';
import { getPlatformProxy } from 'wrangler';
import { partsOf, sizeWarning } from './deploy/restore.ts';
import { readToml } from './project/toml.ts';
import { runWrangler } from './project/wrangler.ts';
import * as extras from './rehearse/extras.ts';

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
let restoredRows = 0;
for (const [table, dumped] of rowsDumped) {
  const rows = Number(await env.DB.prepare(`select count(*) as n from "${table}"`).first('n'));
  if (rows !== dumped) problems.push(`${table} has ${rows} rows, and ${dumped} in the backup`);
  restoredRows += rows;
}

const lines = [`database: ${rowsDumped.size} tables, ${restoredRows} rows`];
for (const restore of Object.values<extras.Restore>(extras)) {
  const found = await restore(env, folder);
  lines.push(found.restored);
  problems.push(...found.problems);
}
await dispose();
console.log(lines.join('\n'));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
