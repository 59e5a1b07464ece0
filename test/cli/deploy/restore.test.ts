import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Query } from '#src/cli/deploy/import.ts';
import { partsOf, restore, sizeWarning } from '#src/cli/deploy/restore.ts';
import { migrationsDirectory } from '#src/cli/deploy/schema.ts';
import type { Wrangler } from '#src/cli/project/cloudflare.ts';
import { readText, temporaryFolder } from '#test/support/node/index.ts';

const rows = Array.from(
  { length: 40 },
  (_, i) => `INSERT INTO "events" ("id","text") VALUES(${i},'⚠️; it''s\u2028 ${i}');`,
);
const indexes = [
  'CREATE INDEX a on events (id);',
  'CREATE UNIQUE INDEX b\n  on events (text, id);',
];
const trigger = `CREATE TRIGGER c after insert on events begin\n  delete from events where id = -1;\nend;`;
const table = 'CREATE TABLE events (id integer, -- a hole\n  text text);';
const dump = ['PRAGMA defer_foreign_keys=TRUE;', table, ...rows, ...indexes, trigger].join('\n');
const bytes = 500;

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'fleet.sql');
  writeFileSync(file, dump);
});

const all = async (size?: number) => Array.fromAsync(partsOf(file, size));

it('a small dump is one part; a large one is split between rows, and its indexes are built one by one', async () => {
  expect(await all()).toHaveLength(1);
  const parts = await all(bytes);
  expect(parts.length).toBeGreaterThan(5);
  for (const part of parts) expect(part.length).toBeLessThan(2 * bytes);
  expect(parts.at(-2)).toContain('CREATE INDEX a');
  expect(parts.at(-1)).toContain('CREATE UNIQUE INDEX b');
  expect(parts.at(-1)).toContain('CREATE TRIGGER c');
  const [whole, split] = [new DatabaseSync(':memory:'), new DatabaseSync(':memory:')];
  whole.exec(dump);
  for (const part of parts) split.exec(Buffer.from(part, 'latin1').toString());
  const contents = (database: DatabaseSync) =>
    ['select * from events', 'select type, name, sql from sqlite_master'].map((sql) =>
      database.prepare(sql).all(),
    );
  expect(contents(split)).toEqual(contents(whole));
});

/** An empty D1, and how to restore the dump into it; `failing` is the part that wrangler cannot import. */
function target() {
  const sqlite = new DatabaseSync(':memory:');
  const query: Query = async (_, sql) =>
    sqlite
      .prepare(sql)
      .all()
      .map(({ name }) => String(name));
  const restored = vi.fn();
  const run = (failing = 0) => {
    let left = failing;
    const wrangler: Wrangler = async (args) => {
      if (--left === 0) return { ok: false, out: '', text: '[ERROR] it broke' };
      sqlite.exec(`begin; ${readText(args.at(-1) ?? '')} commit;`);
      return { ok: true, out: '', text: '' };
    };
    const to = { database: 'fleet', config: join(folder, 'wrangler.json'), dump: file };
    return restore(wrangler, query, to, restored, partsOf(file, bytes));
  };
  return { sqlite, run, restored };
}

it('goes on with the part at which it was interrupted, and leaves nothing of its own behind', async () => {
  const { sqlite, run, restored } = target();
  await expect(run(4)).rejects.toThrow('it broke');
  expect(restored.mock.calls).toEqual([1, 2, 3].map((number) => [`Restored part ${number}`]));
  await run();
  expect(restored.mock.calls[3]).toEqual(['Restored part 4']);
  expect(sqlite.prepare('select count(*) as n from events').get()).toEqual({ n: rows.length });
  const names = sqlite.prepare('select name from sqlite_master order by name').all();
  expect(names.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'events']);
  await expect(run()).rejects.toThrow('it has tables such as events');
});

it('goes on with no other dump', async () => {
  const { run } = target();
  await expect(run(4)).rejects.toThrow('it broke');
  writeFileSync(file, dump.replace('⚠️', '!'));
  await expect(run()).rejects.toThrow('The database fleet has a part of another dump.');
});

it('says of more than 1 GB that it takes long', () => {
  expect(sizeWarning(1e9)).toBe(undefined);
  expect(sizeWarning(2.34e9)).toMatch(/^the dump has 2\.3 GB, so D1 imports it in 24 parts/);
});

it('each table is created after those that it refers to, as the parts of a dump need', () => {
  const sqlite = new DatabaseSync(':memory:');
  for (const name of readdirSync(migrationsDirectory).sort())
    sqlite.exec(readText(migrationsDirectory, name));
  const early = sqlite.prepare(
    `select child.name, parent.name as parent from sqlite_master child
     join pragma_foreign_key_list(child.name) f join sqlite_master parent on parent.name = f."table"
     where child.type = 'table' and parent.rowid >= child.rowid`,
  );
  expect(early.all()).toEqual([]);
});
