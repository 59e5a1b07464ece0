import { and, exists, inArray, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { config } from '../core/platform/config.ts';
import { seal, unseal } from '../core/platform/crypto.ts';
import { type Database, transaction } from '../core/platform/db/database.ts';
import { accounts } from '../core/platform/db/schema/accounts.ts';
import { webhooks } from '../core/platform/db/schema/webhooks.ts';
import { openDatabase } from '../core/platform/db/system.ts';
import { inSteps, newBudget } from '../core/platform/jobs/budget.ts';
import type { Encrypted } from '../extras/extra.ts';
import { declared } from '../extras.ts';

/** Every encrypted column by table, and the id that it is bound to. */
const tables: Encrypted[] = [
  {
    table: webhooks,
    id: webhooks.id,
    columns: [webhooks.headers, webhooks.signing, webhooks.oauth, webhooks.oauthToken],
  },
  ...declared('encrypted').flat(),
];

/** The statement that counts what each key has encrypted: reads all webhooks, channels and pulls. */
export function countEncrypted(db: Database) {
  // Raw: json_each makes rows of a table's columns, so that it is read once.
  return db.all<{ key: string; encrypts: number }>(sql`
    select key, count(*) as encrypts
    from (${sql.join(
      tables.map(
        ({ table, columns }) => sql`
          select c.value->>'key' as key
          from ${table}
          cross join json_each(json_array(${sql.join(columns, sql`, `)})) c`,
      ),
      sql` union all `,
    )})
    where key is not null
    group by key
    order by key`);
}

const perStep = 200;

/** Re-encrypts what an older key has encrypted, so that it can be removed. Returns how many. */
export async function reEncrypt(env: Env, _?: number, budget = newBudget()): Promise<number> {
  let count = 0;
  const all = tables.flatMap(({ columns, ...one }) =>
    columns.map((column) => ({ ...one, column })),
  );
  for (const one of all)
    await inSteps(budget, async () => {
      const found = await reEncryptSome(env, one);
      count += found;
      return found === perStep;
    });
  return count;
}

type EncryptedColumn = Omit<Encrypted, 'columns'> & { column: SQLiteColumn };

async function reEncryptSome(env: Env, { table, id, column }: EncryptedColumn) {
  const db = openDatabase(env);
  const newest = config(env).encryptionKeys[0]?.id ?? '';
  const here = db
    .select({ id: accounts.id })
    .from(accounts)
    .where(
      and(sql`${accounts.id} = account_id`, inArray(accounts.status, ['active', 'suspended'])),
    );
  const old = await transaction(
    db,
    db
      .select({ id: sql<string>`${id}`.as('id'), sealed: sql<string>`${column}`.as('sealed') })
      .from(table)
      .where(and(sql`${column}->>'key' <> ${newest}`, exists(here)))
      .limit(perStep),
  );
  const fresh = old.map(async ({ id, sealed }) => {
    const text = await unseal(env, id, sealed);
    return { id, sealed, fresh: JSON.stringify(await seal(env, id, text)) };
  });
  const values = JSON.stringify(await Promise.all(fresh));
  // Raw: the column is known only at run time. Only what has not changed meanwhile.
  const update = db.run(sql`
    update ${table} set ${sql.identifier(column.name)} = r.fresh
    from (
      select value->>'id' as key, value->>'sealed' as was, value->>'fresh' as fresh
      from json_each(${values})) r
    where ${id} = r.key and ${column} = r.was`);
  await transaction(db, update);
  return old.length;
}
