import { env } from 'cloudflare:workers';
import { eq, sql } from 'drizzle-orm';
import { transaction } from '#src/core/platform/db/database.ts';
import { isRead } from '#src/core/platform/db/drizzle.ts';
import { accounts, connections } from '#src/core/platform/db/schema/accounts.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { world } from '#test/support/world.ts';

const db = openDatabase(env);

it('statements of the builder and of raw SQL run in one transaction, each with its own kind of result', async () => {
  const { accountId } = await world();
  const own = eq(accounts.id, accountId);
  const results = await transaction(db, {
    held: db
      .update(accounts)
      .set({ held: true, quotas: { records: 3 } })
      .where(own),
    raw: db.run(sql`update accounts set name = ${"It's one"} where id = ${accountId}`),
    returned: db
      .update(accounts)
      .set({ units: 'imperial' })
      .where(own)
      .returning({ units: accounts.units }),
    read: db.select().from(accounts).where(own),
    rawRead: db.all<{ name: string }>(sql`select name from accounts where id = ${accountId}`),
  });
  expect(results).toMatchObject({
    held: { meta: { changes: 1 } },
    raw: { meta: { changes: 1 } },
    returned: [{ units: 'imperial' }],
    read: [{ name: "It's one", held: true, quotas: { records: 3 } }],
    rawRead: [{ name: "It's one" }],
  });
});

it('two columns of one name are refused, instead of shifting those behind them', async () => {
  await world();
  const both = db
    .select({ account: accounts.name, connection: connections.name })
    .from(accounts)
    .innerJoin(connections, eq(connections.accountId, accounts.id));
  await expect(transaction(db, both)).rejects.toThrow('Two columns have the same name');
});

it.each([
  [db.select().from(accounts), true],
  [db.select().from(accounts).unionAll(db.select().from(accounts)), true],
  [db.all(sql`with some as (select 1) select updated_at, replace(name, 'a', 'b') from some`), true],
  [db.run(sql`select 1`), true],
  [db.insert(accounts).values({ id: '', name: '', createdAt: 0 }), false],
  [db.delete(accounts).where(eq(accounts.id, '')).returning(), false],
  [db.all(sql`insert or ignore into accounts (id) values (1) returning id`), false],
  [db.all(sql`update accounts indexed by one set id = 1 where id = 2`), false],
  [db.run(sql`with some as (select 1) delete from accounts where id in some`), false],
  [db.run(sql`replace into accounts (id) values (1)`), false],
])('what only reads is known: %#', (statement, reads) => {
  expect(isRead(statement)).toBe(reads);
});
