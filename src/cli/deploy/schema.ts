import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { root } from '../project/paths.ts';
import type { Query } from './api.ts';
import { must, Stopped, type Wrangler } from './wrangler.ts';

export const migrationsDirectory = join(root, 'migrations');

/** The files of the migrations, in order. */
const files = (): string[] =>
  readdirSync(migrationsDirectory)
    .filter((file) => file.endsWith('.sql'))
    .sort();

/**
 * Applies the migrations that the database lacks and returns their names; `where` is said of a failure. Cloudflare's way
 * of applying them splits files into statements itself, and has cut triggers in two: those that it refuses so are run as
 * files, and entered as applied.
 *
 * @throws Stopped
 */
export async function migrate(
  wrangler: Wrangler,
  config: string,
  database: string,
  where: string,
): Promise<string[]> {
  const what = `Applying the migrations${where}`;
  const at = [database, '--remote', '--config', config];
  const applied = await wrangler(['d1', 'migrations', 'apply', ...at]);
  const isCut = !applied.ok && /incomplete input|\[code: 7500\]/.test(applied.text);
  if (!isCut) return namesIn((await must(what, applied)).text);
  const execute = (...args: string[]) => must(what, wrangler(['d1', 'execute', ...at, '--yes', ...args]));
  const known = namesIn((await execute('--command', 'select name from d1_migrations')).text);
  const missing = files().filter((file) => !known.includes(file));
  for (const file of missing) {
    await execute('--file', join(migrationsDirectory, file));
    await execute('--command', `insert into d1_migrations (name) values ('${file}')`);
  }
  return missing;
}

const namesIn = (text: string): string[] => [...new Set(text.match(/\b\d{4}_\w+\.sql\b/g))];

/** What SQLite keeps of the schema, without its own tables and those of D1 and wrangler. */
const schema = `select type || ' ' || name || ': ' || sql as name from sqlite_master
  where sql is not null and name not like 'sqlite#_%' escape '#' and name not like '#_cf#_%' escape '#'
    and name <> 'd1_migrations'`;

/** Comments and white space differ by the way that a statement has come. */
const plain = (entry: string): string =>
  entry
    .replace(/--[^\n]*/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ?([(),;]) ?/g, '$1')
    .trim();

/**
 * Compares the tables, indexes and triggers of a database with what the migrations make.
 *
 * @throws Stopped, naming what is missing, different or of nobody
 */
export async function mustHaveSchema(query: Query, database: { id: string; name: string }): Promise<void> {
  const local = new DatabaseSync(':memory:');
  for (const file of files()) local.exec(readFileSync(join(migrationsDirectory, file), 'utf8'));
  const expected = local
    .prepare(schema)
    .all()
    .map(({ name }) => plain(String(name)));
  const { names } = await query('Looking at the schema', database, schema);
  const found = names.map(plain);
  const differing = [
    ...expected.filter((one) => !found.includes(one)),
    ...found.filter((one) => !expected.includes(one)),
  ];
  const named = [...new Set(differing.map((one) => one.split(':')[0]))];
  if (named.length > 0)
    throw new Stopped(
      `The database ${database.name} is not as the migrations make it: ${named.slice(0, 10).join(', ')}. ` +
        'No code was uploaded. Mend these by hand, or restore the database, and run it again.',
    );
}
