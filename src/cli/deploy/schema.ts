import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as v from 'valibot';
import { plain, schemaSql, subjectOf } from '../../operator/api/schema.ts';
import { type Api, must, Stopped, type Wrangler } from '../project/cloudflare.ts';
import { root } from '../project/paths.ts';

export const migrationsDirectory = join(root, 'migrations');

const files = (): string[] => readdirSync(migrationsDirectory).sort();

/** Queries the database for names. `what` describes failures. */
export type Query = (what: string, sql: string) => Promise<string[]>;

const Results = v.array(v.object({ results: v.array(v.looseObject({ name: v.optional(v.string()) })) }));

export const queryIn =
  (api: Api, databaseId: string): Query =>
  async (what, sql) => {
    const found = await api(what, Results, `/d1/database/${databaseId}/query`, { body: { sql } });
    return found.flatMap(({ results }) => results.flatMap(({ name }) => name ?? []));
  };

/** As wrangler creates it. */
const tableOfMigrations = `create table if not exists d1_migrations(
  id integer primary key autoincrement, name text unique,
  applied_at timestamp default current_timestamp not null);`;

/** Applies what migrations the database lacks, all or none. Returns them. @throws Stopped */
export async function migrate(
  wrangler: Wrangler,
  query: Query,
  config: string,
  database: string,
): Promise<string[]> {
  const what = 'Applying the migrations';
  const ask = (sql: string) => query(what, sql);
  const [table] = await ask(`select name from sqlite_master where name = 'd1_migrations'`);
  const applied = table ? await ask('select name from d1_migrations') : [];
  const lacking = files().filter((file) => !applied.includes(file));
  if (lacking.length === files().length) await mustBeFree(ask, database);
  if (lacking.length === 0) return [];
  // `wrangler d1 migrations apply` takes files apart, and can end in the middle of one.
  const whole = join(dirname(config), 'migrations.sql');
  writeFileSync(whole, [tableOfMigrations, ...lacking.map(applying)].join('\n'));
  must(what, await wrangler(['d1', 'execute', ...at(database, config), whole]));
  rmSync(whole);
  return lacking;
}

/** Restores a dump into a database without tables. @throws Stopped */
export async function restore(wrangler: Wrangler, query: Query, config: string, name: string, dump: string) {
  const what = `Restoring ${dump}`;
  await mustBeFree((sql) => query(what, sql), name);
  must(what, await wrangler(['d1', 'execute', ...at(name, config), dump]));
}

const at = (database: string, config: string) => [
  database,
  '--remote',
  '--config',
  config,
  '--yes',
  '--file',
];

/** Makes sure that a database without our migrations has no tables. @throws Stopped */
async function mustBeFree(ask: (sql: string) => Promise<string[]>, name: string): Promise<void> {
  const tables = await ask(
    `select name from sqlite_master where type = 'table' and name not glob '_cf_*' and name not glob 'sqlite_*'`,
  );
  const others = tables.filter((table) => table !== 'd1_migrations');
  if (others.length > 0)
    throw new Stopped(
      `The database ${name} already exists for something else: it has tables such as ${others.slice(0, 5).join(', ')}. ` +
        `Choose another --name, or delete the database if nobody needs it: npx wrangler d1 delete ${name}`,
    );
}

/** The SQL of a migration, and that of its entry. */
const applying = (file: string): string =>
  `${readFileSync(join(migrationsDirectory, file), 'utf8')}\ninsert into d1_migrations (name) values ('${file}');`;

/** The schema of a migrated new database, as `schemaSql` selects it. */
export function expectedSchema(): string[] {
  const local = new DatabaseSync(':memory:');
  local.exec(tableOfMigrations);
  for (const file of files()) local.exec(applying(file));
  const entries = local.prepare(schemaSql).all();
  return entries.map(({ name }) => plain(String(name)));
}

/** Compares a database with the migrations, of which it may have newer ones. @throws Stopped */
export async function mustHaveSchema(query: Query, database: string): Promise<void> {
  const expected = expectedSchema();
  const found = (await query('Checking the schema', schemaSql)).map(plain);
  const isNewer = lacking(expected, found).some((one) => one.startsWith('migration '));
  const differing = isNewer
    ? lacking(found.map(subjectOf), expected.map(subjectOf))
    : [...lacking(found, expected), ...lacking(expected, found)].map(subjectOf);
  if (differing.length > 0)
    throw new Stopped(
      `The database ${database} is not as the migrations make it: ${[...new Set(differing)].slice(0, 10).join(', ')}. ` +
        'No code was uploaded. Fix these by hand, or restore the database, and run it again.',
    );
}

const lacking = (some: string[], all: string[]): string[] => all.filter((one) => !some.includes(one));
