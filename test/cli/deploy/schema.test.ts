import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import type { Query } from '../../../src/cli/deploy/api.ts';
import { migrate, migrationsDirectory, mustHaveSchema } from '../../../src/cli/deploy/schema.ts';
import type { Wrangler } from '../../../src/cli/deploy/wrangler.ts';

const files = readdirSync(migrationsDirectory).sort();
const fleet = { id: 'd1', name: 'fleet' };

/** A database with these migrations, as the deploy asks it. */
function migrated(change: (sql: string) => string = (sql) => sql) {
  const sqlite = new DatabaseSync(':memory:');
  for (const file of files) sqlite.exec(change(readFileSync(join(migrationsDirectory, file), 'utf8')));
  const query: Query = async (_, __, sql) => ({
    names: sqlite
      .prepare(sql)
      .all()
      .map(({ name }) => String(name)),
    region: undefined,
  });
  return { sqlite, query };
}

it('a database with all migrations is as it should be, however they came', async () => {
  const withoutComments = (sql: string) => sql.replace(/--[^\n]*/g, '').replace(/\s+/g, ' ');
  for (const change of [undefined, withoutComments])
    await expect(mustHaveSchema(migrated(change).query, fleet)).resolves.toBeUndefined();
});

it.each([
  ['drop trigger event_came', 'trigger event_came'],
  ['drop index deliveries_due', 'index deliveries_due'],
  ['create table somebodys (id text)', 'table somebodys'],
])('after "%s" nothing is uploaded, and it says what differs', async (sql, name) => {
  const { sqlite, query } = migrated();
  sqlite.exec(sql);
  await expect(mustHaveSchema(query, fleet)).rejects.toThrow(
    `is not as the migrations make it: ${name}. No code`,
  );
});

it('a migration whose triggers Cloudflare cuts in two is run as a file, and entered as applied', async () => {
  const ran: string[] = [];
  const wrangler: Wrangler = async ([, what = '', , , , , , ...rest]) => {
    ran.push([what, ...rest].join(' '));
    if (what === 'migrations')
      return { ok: false, out: '', text: '[ERROR] incomplete input: SQLITE_ERROR [code: 7500]' };
    const text = rest.includes('select name from d1_migrations') ? `"name": "${files[0]}"` : '';
    return { ok: true, out: text, text };
  };
  expect(await migrate(wrangler, 'wrangler.json', 'fleet', '')).toEqual(files.slice(1));
  expect(ran.filter((line) => line.includes('--file'))).toHaveLength(files.length - 1);
  expect(ran.at(-1)).toContain(`insert into d1_migrations (name) values ('${files.at(-1)}')`);
});

it('any other failure of a migration stops the deploy', async () => {
  const wrangler: Wrangler = async () => ({ ok: false, out: '', text: '[ERROR] no such table: x' });
  await expect(migrate(wrangler, 'wrangler.json', 'fleet', '')).rejects.toThrow('no such table');
});
