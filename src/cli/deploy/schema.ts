import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { plain, schemaSql, subjectOf } from '../../operator/api/schema.ts';
import { Stopped, type Wrangler } from '../project/cloudflare.ts';
import { root } from '../project/paths.ts';
import { importFile, type Query } from './import.ts';

export const migrationsDirectory = join(root, 'migrations');

const files = (): string[] => readdirSync(migrationsDirectory).sort();

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
  const lacked = await lackedBy(ask);
  if (lacked.length === files().length) await mustBeFree(ask, database);
  if (lacked.length === 0) return [];
  // `wrangler d1 migrations apply` takes files apart, and can end in the middle of one.
  const file = join(dirname(config), 'migrations.sql');
  writeFileSync(file, [tableOfMigrations, ...lacked.map(applying)].join('\n'));
  const isImported = async () => (await lackedBy(ask)).length === 0;
  await importFile(what, wrangler, { database, config, file }, isImported);
  rmSync(file);
  return lacked;
}

type Ask = (sql: string) => Promise<string[]>;

/** The migrations that a database lacks. */
async function lackedBy(ask: Ask): Promise<string[]> {
  const [table] = await ask(`select name from sqlite_master where name = 'd1_migrations'`);
  const applied = table ? await ask('select name from d1_migrations') : [];
  return files().filter((file) => !applied.includes(file));
}

/** Makes sure that a database without our migrations has no tables. @throws Stopped */
export async function mustBeFree(ask: Ask, name: string): Promise<void> {
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

const lacking = (some: string[], all: string[]): string[] =>
  all.filter((one) => !some.includes(one));
