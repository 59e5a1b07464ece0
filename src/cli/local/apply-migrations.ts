import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { D1Database } from '@cloudflare/workers-types';
import { getPlatformProxy, unstable_splitSqlQuery as statementsOf } from 'wrangler';
import { root } from '../project/paths.ts';

// A program, for wrangler reads its settings from the environment: applies the migrations that the local database in
// the folder of its argument lacks, each as a transaction.

const [state = ''] = process.argv.slice(2);
const migrations = join(root, 'migrations');

const { env, dispose } = await getPlatformProxy<{ DB: D1Database }>({
  configPath: databaseAlone(),
  persist: { path: join(state, 'v3') }, // where `wrangler dev --persist-to` looks
});
try {
  // The table that wrangler keeps, so that its own commands agree.
  await env.DB.prepare(
    `create table if not exists d1_migrations (id integer primary key autoincrement, name text unique,
       applied_at timestamp default current_timestamp not null)`,
  ).run();
  const applied = await env.DB.prepare('select name from d1_migrations').raw<[string]>();
  const names = readdirSync(migrations).sort();
  for (const name of names.filter((wanted) => !applied.some(([done]) => done === wanted))) await apply(name);
} finally {
  await dispose();
}

async function apply(name: string): Promise<void> {
  const statements = statementsOf(readFileSync(join(migrations, name), 'utf8'));
  try {
    await env.DB.batch([
      ...statements.map((statement) => env.DB.prepare(statement)),
      env.DB.prepare('insert into d1_migrations (name) values (?1)').bind(name),
    ]);
  } catch (cause) {
    throw new Error(`The migration ${name} failed`, { cause });
  }
}

/** A configuration with the project's database and nothing else, for nothing else is needed. */
function databaseAlone(): string {
  const toml = readFileSync(join(root, 'wrangler.toml'), 'utf8');
  const database = /^\[\[d1_databases\]\]\n(?:.+\n)+/m.exec(toml)?.[0] ?? '';
  const date = /^compatibility_date = .+\n/m.exec(toml)?.[0] ?? '';
  const file = join(state, 'database.toml');
  writeFileSync(file, `name = "migrations"\n${date}\n${database}`);
  return file;
}
