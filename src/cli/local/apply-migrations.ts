import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { D1Database } from '@cloudflare/workers-types';
import { getPlatformProxy, unstable_splitSqlQuery as statementsOf } from 'wrangler';
import { withHomes } from '../project/homes.ts';
import { root } from '../project/paths.ts';

// A program, because wrangler reads its settings from the environment. Applies the migrations that the local databases
// in the folder of its first argument lack, each as a transaction. The other arguments name homes besides main.

const [state = '', ...homes] = process.argv.slice(2);
const migrations = join(root, 'migrations');

const { env, dispose } = await getPlatformProxy<{ [binding: string]: D1Database }>({
  configPath: databasesAlone(),
  persist: { path: join(state, 'v3') }, // where `wrangler dev --persist-to` looks
});
try {
  for (const [binding, database] of Object.entries(env)) await migrate(binding, database);
} finally {
  await dispose();
}

async function migrate(binding: string, database: D1Database): Promise<void> {
  // The table that wrangler keeps, so that its own commands agree.
  await database
    .prepare(
      `create table if not exists d1_migrations (id integer primary key autoincrement, name text unique,
         applied_at timestamp default current_timestamp not null)`,
    )
    .run();
  const applied = await database.prepare('select name from d1_migrations').raw<[string]>();
  for (const name of readdirSync(migrations).sort()) {
    if (applied.some(([done]) => done === name)) continue;
    await apply(database, name).catch((cause) => {
      throw new Error(`The migration ${name} failed in ${binding}`, { cause });
    });
  }
}

async function apply(database: D1Database, name: string): Promise<void> {
  const statements = statementsOf(readFileSync(join(migrations, name), 'utf8'));
  await database.batch([
    ...statements.map((statement) => database.prepare(statement)),
    database.prepare('insert into d1_migrations (name) values (?1)').bind(name),
  ]);
}

function databasesAlone(): string {
  const toml = withHomes(readFileSync(join(root, 'wrangler.toml'), 'utf8'), homes);
  const databases = toml.match(/^\[\[d1_databases\]\]\n(?:.+\n)+/gm) ?? [];
  const date = /^compatibility_date = .+\n/m.exec(toml)?.[0] ?? '';
  const file = join(state, 'database.toml');
  writeFileSync(file, `name = "migrations"\n${date}\n${databases.join('\n')}`);
  return file;
}
