import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../project/paths.ts';
import type { NamedDatabase, Query } from './query.ts';
import { Stopped } from './wrangler.ts';

/**
 * Makes sure that a database which the Worker is not bound to is empty, or has been migrated by a deploy that did not
 * come to its end. @throws Stopped when it holds something else
 */
export async function mustBeOurs(query: Query, database: NamedDatabase): Promise<void> {
  const { name } = database;
  const ask = async (sql: string) => (await query(`Looking into the database ${name}`, database, sql)).names;
  const tables = await ask(
    `select name from sqlite_master where type = 'table' and name not glob '_cf_*' and name not glob 'sqlite_*'
      order by name = 'd1_migrations' desc limit 5`,
  );
  if (tables.length === 0) return;
  const [first] = tables.includes('d1_migrations')
    ? await ask('select name from d1_migrations order by id limit 1')
    : [];
  const isOurs = first === readdirSync(join(root, 'migrations')).sort()[0];
  if (isOurs || (first === undefined && tables.join() === 'd1_migrations')) return;
  throw new Stopped(
    `The database ${name} already exists for something else: it has tables such as ${tables.join(', ')}. ` +
      `Choose another name for the home, or delete the database if nobody needs it: npx wrangler d1 delete ${name}`,
  );
}
