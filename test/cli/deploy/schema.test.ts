import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Query } from '#src/cli/deploy/import.ts';
import { migrate, migrationsDirectory, mustHaveSchema } from '#src/cli/deploy/schema.ts';
import type { Wrangler } from '#src/cli/project/cloudflare.ts';
import { readText, temporaryFolder } from '#test/support/node/index.ts';

const files = readdirSync(migrationsDirectory).sort();

const entered = (file: string) => `insert into d1_migrations (name) values ('${file}');`;

/** An empty database that wrangler has prepared, as the deploy asks it. */
function empty() {
  const sqlite = new DatabaseSync(':memory:');
  sqlite.exec('create table d1_migrations (name text unique)');
  const rows = (sql: string) => sqlite.prepare(sql).all();
  const query: Query = async (_, sql) => rows(sql).map(({ name }) => String(name));
  return { sqlite, query };
}

function migrated(change: (sql: string) => string = (sql) => sql) {
  const { sqlite, query } = empty();
  for (const file of files) {
    const sql = readText(migrationsDirectory, file);
    sqlite.exec(`${change(sql)}\n${entered(file)}`);
  }
  return { sqlite, query };
}

it('a database with all migrations is as it should be, however they came', async () => {
  const withoutComments = (sql: string) => sql.replace(/--[^\n]*/g, '').replace(/\s+/g, ' ');
  for (const change of [undefined, withoutComments])
    await expect(mustHaveSchema(migrated(change).query, 'fleet')).resolves.toBeUndefined();
});

it.each([
  ['drop trigger event_came', 'trigger event_came'],
  ['drop index deliveries_due', 'index deliveries_due'],
  ['create table somebodys (id text)', 'table somebodys'],
  ["delete from d1_migrations where name = '0006_providers.sql'", 'migration 0006_providers.sql'],
])('after "%s" nothing is uploaded, and it says what differs', async (sql, name) => {
  const { sqlite, query } = migrated();
  sqlite.exec(sql);
  await expect(mustHaveSchema(query, 'fleet')).rejects.toThrow(
    `is not as the migrations make it: ${name}. No code`,
  );
});

it('a database that a newer commit has migrated needs only what an older one knows', async () => {
  const { sqlite, query } = migrated();
  sqlite.exec('create table later (id text); alter table accounts add column later text');
  sqlite.exec(entered('9999_later.sql'));
  await expect(mustHaveSchema(query, 'fleet')).resolves.toBeUndefined();
  sqlite.exec('drop trigger event_came');
  await expect(mustHaveSchema(query, 'fleet')).rejects.toThrow('make it: trigger event_came.');
});

it('a database that holds something else is left as it is', async () => {
  const { sqlite, query } = empty();
  sqlite.exec('create table orders (id text)');
  const wrangler = () => Promise.reject(new Error('was run'));
  const migrating = migrate(wrangler, query, 'wrangler.json', 'fleet');
  await expect(migrating).rejects.toThrow('for something else: it has tables such as orders.');
});

it('what is missing is applied as one file, and a failure stops the deploy', async () => {
  const folder = temporaryFolder();
  const { sqlite, query } = migrated();
  sqlite.exec('delete from d1_migrations');
  const [first = '', second = '', ...others] = files;
  for (const file of others) sqlite.exec(entered(file));
  const text = '[ERROR] no such table: x: SQLITE_ERROR [code: 7500]';
  let sql = '';
  const wrangler = vi.fn<Wrangler>(async (args) => {
    sql = readText(args.at(-1) ?? '');
    return { ok: false, out: '', text };
  });
  const migrating = migrate(wrangler, query, join(folder, 'wrangler.json'), 'fleet');
  await expect(migrating).rejects.toThrow('no such table');
  expect(wrangler).toHaveBeenCalledOnce();
  expect(sql.match(/^insert into d1_migrations .*/gm)).toEqual([entered(first), entered(second)]);
});
