import { eq, sql } from 'drizzle-orm';
import { transaction } from '#src/core/platform/db/database.ts';
import { isRead } from '#src/core/platform/db/drizzle.ts';
import { accounts, connections } from '#src/core/platform/db/schema/accounts.ts';
import { db, world } from '#test/support.ts';

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
  [db.insert(accounts).values({ id: '', name: '', createdAt: 0 }), false],
  [db.delete(accounts).where(eq(accounts.id, '')).returning(), false],
  [db.all(sql`insert or ignore into accounts (id) values (1) returning id`), false],
  [db.run(sql`replace into accounts (id) values (1)`), false],
  [db.all(sql`update accounts indexed by one set id = 1 where id = 2`), false],
  [db.run(sql`with some as (select 1) delete from accounts where id in some`), false],
])('what only reads is known: %#', (statement, reads) => {
  expect(isRead(statement)).toBe(reads);
});
