import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { plain, schemaSql, subjectOf } from '../../operator/api/schema.ts';
import { root } from '../project/paths.ts';
import type { Query } from './api.ts';
import { must, Stopped, type Wrangler } from './wrangler.ts';

export const migrationsDirectory = join(root, 'migrations');

const files = (): string[] =>
  readdirSync(migrationsDirectory)
    .filter((file) => file.endsWith('.sql'))
    .sort();

/**
 * Applies the migrations that the database lacks and returns their names. Cloudflare
 * splits files into statements itself, and has cut triggers in two: a migration refused for that is run as a file, in
 * one transaction with its entry as applied.
 *
 * @throws Stopped, also for a database that holds something else, which is not changed
 */
export async function migrate(
  wrangler: Wrangler,
  query: Query,
  config: string,
  database: string,
): Promise<string[]> {
  const what = 'Applying the migrations';
  const ask = (sql: string) => query(what, sql);
  const missing = async () => {
    const [table] = await ask(`select name from sqlite_master where name = 'd1_migrations'`);
    const applied = table ? await ask('select name from d1_migrations') : [];
    return files().filter((file) => !applied.includes(file));
  };
  const at = [database, '--remote', '--config', config];
  const lacking = await missing();
  if (lacking.length === files().length) await mustBeFree(ask, database);
  for (let [next] = lacking; next; [next] = await missing()) {
    const applied = await wrangler(['d1', 'migrations', 'apply', ...at]);
    if (applied.ok) break;
    if (!applied.text.includes('incomplete input')) await must(what, applied);
    const [cut = next] = await missing();
    const whole = join(dirname(config), cut);
    writeFileSync(whole, `${sqlOf(cut)}\n${entryOf(cut)}\n`);
    await must(what, wrangler(['d1', 'execute', ...at, '--yes', '--file', whole]));
    rmSync(whole);
  }
  return lacking;
}

/** Makes sure that a database without our migrations has no tables of others. @throws Stopped, when it has */
async function mustBeFree(ask: (sql: string) => Promise<string[]>, name: string): Promise<void> {
  const tables = await ask(
    `select name from sqlite_master where type = 'table' and name not glob '_cf_*' and name not glob 'sqlite_*'`,
  );
  const ours = expectedSchema().map(subjectOf);
  const others = tables.filter((table) => table !== 'd1_migrations' && !ours.includes(`table ${table}`));
  if (others.length > 0)
    throw new Stopped(
      `The database ${name} already exists for something else: it has tables such as ${others.slice(0, 5).join(', ')}. ` +
        `Choose another --name, or delete the database if nobody needs it: npx wrangler d1 delete ${name}`,
    );
}

const sqlOf = (file: string): string => readFileSync(join(migrationsDirectory, file), 'utf8');
const entryOf = (file: string): string => `insert into d1_migrations (name) values ('${file}');`;

/** The schema of a migrated new database, as `schemaSql` selects it. */
export function expectedSchema(): string[] {
  const local = new DatabaseSync(':memory:');
  local.exec('create table d1_migrations (name text)');
  for (const file of files()) local.exec(`${sqlOf(file)}\n${entryOf(file)}`);
  return local
    .prepare(schemaSql)
    .all()
    .map(({ name }) => plain(String(name)));
}

/**
 * Compares the tables, indexes and triggers of a database with those of the migrations. A database with newer
 * migrations only needs to have the known ones.
 *
 * @throws Stopped, naming what is missing, different or unknown
 */
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
