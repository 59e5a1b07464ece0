import { and, exists, inArray, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { config } from '../core/platform/config.ts';
import { seal, unseal } from '../core/platform/crypto.ts';
import { type Database, transaction } from '../core/platform/db/database.ts';
import { accounts } from '../core/platform/db/schema/accounts.ts';
import { webhooks } from '../core/platform/db/schema/webhooks.ts';
import { openDatabase } from '../core/platform/db/system.ts';
import { inSteps, newBudget } from '../core/platform/jobs/budget.ts';
import { options } from '../core/webhooks/options.ts';
import { declared } from '../extras.ts';

/** A column that is encrypted, or the part of its JSON that is. */
type Encrypted = { column: SQLiteColumn; part?: string };

/** All that is encrypted, by table, and the id that it is bound to. */
const tables = (): { table: SQLiteTable; id: SQLiteColumn; parts: Encrypted[] }[] => [
  {
    table: webhooks,
    id: webhooks.id,
    parts: [
      { column: webhooks.headers },
      ...options().flatMap(({ encrypted = [] }) =>
        encrypted.map((part) => ({ column: webhooks.options, part })),
      ),
    ],
  },
  ...declared('encrypted')
    .flat()
    .map(({ columns, ...one }) => ({ ...one, parts: columns.map((column) => ({ column })) })),
];

/** SQL for what is encrypted. */
const sealedIn = ({ column, part }: Encrypted): SQL =>
  part === undefined ? sql`${column}` : sql`${column}->${part}`;

/** SQL for its column with it encrypted anew. */
const resealed = ({ column, part }: Encrypted, fresh: SQL): SQL =>
  part === undefined ? fresh : sql`json_set(${column}, ${`$.${part}`}, json(${fresh}))`;

/** The statement that counts what each key has encrypted: reads all webhooks, channels and pulls. */
export function countEncrypted(db: Database) {
  // Raw: json_each makes rows of a table's columns, so that it is read once.
  return db.all<{ key: string; encrypts: number }>(sql`
    select key, count(*) as encrypts
    from (${sql.join(
      tables().map(
        ({ table, parts }) => sql`
          select c.value->>'key' as key
          from ${table}
          cross join json_each(json_array(${sql.join(parts.map(sealedIn), sql`, `)})) c`,
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
  const all = tables().flatMap(({ table, id, parts }) => parts.map((one) => ({ table, id, one })));
  for (const one of all)
    await inSteps(budget, async () => {
      const found = await reEncryptSome(env, one);
      count += found;
      return found === perStep;
    });
  return count;
}

async function reEncryptSome(
  env: Env,
  { table, id, one }: { table: SQLiteTable; id: SQLiteColumn; one: Encrypted },
) {
  const sealed = sealedIn(one);
  const db = openDatabase(env);
  const [, ...older] = config(env).encryptionKeys.map((key) => key.id);
  const here = db
    .select({ id: accounts.id })
    .from(accounts)
    .where(
      and(sql`${accounts.id} = account_id`, inArray(accounts.status, ['active', 'suspended'])),
    );
  const old = await transaction(
    db,
    db
      .select({ id: sql<string>`${id}`.as('id'), sealed: sql<string>`${sealed}`.as('sealed') })
      .from(table)
      .where(and(inArray(sql`${sealed}->>'key'`, older), exists(here)))
      .limit(perStep),
  );
  const fresh = old.map(async ({ id, sealed }) => {
    const text = await unseal(env, id, sealed);
    return { id, sealed, fresh: JSON.stringify(await seal(env, id, text)) };
  });
  const values = JSON.stringify(await Promise.all(fresh));
  // Raw: the column is known only at run time. Only what has not changed meanwhile.
  const update = db.run(sql`
    update ${table} set ${sql.identifier(one.column.name)} = ${resealed(one, sql`r.fresh`)}
    from (
      select value->>'id' as key, value->>'sealed' as was, value->>'fresh' as fresh
      from json_each(${values})) r
    where ${id} = r.key and ${sealed} = r.was`);
  await transaction(db, update);
  return old.length;
}
