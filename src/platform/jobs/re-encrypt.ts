import { sql } from 'drizzle-orm';
import { config } from '../config.ts';
import { type Sealed, seal, unseal } from '../crypto.ts';
import { change, type Database, openDatabase, statement } from '../db/database.ts';
import { inSteps, newBudget } from './budget.ts';

/** Every column that holds something encrypted, and the id that it is bound to. */
const columns = [
  { table: 'webhooks', id: 'id', column: 'headers' },
  { table: 'webhooks', id: 'id', column: 'signing' },
  { table: 'webhooks', id: 'id', column: 'oauth' },
  { table: 'webhooks', id: 'id', column: 'oauth_token' },
  { table: 'alert_channels', id: 'id', column: 'address' },
  { table: 'pulls', id: 'connection_id', column: 'secrets' },
  { table: 'pulls', id: 'connection_id', column: 'webhook_secret' },
  { table: 'pulls', id: 'connection_id', column: 'session' },
];

/** The statement that counts what each key has encrypted: reads all webhooks and pulls, three times the latter. */
export const countEncrypted = (db: Database) =>
  statement<{ key: string; encrypts: number }>(db)`
    select key, count(*) as encrypts from (${sql.join(
      columns.map(
        ({ table, column }) =>
          sql`select ${sql.identifier(column)}->>'key' as key from ${sql.identifier(table)} where ${sql.identifier(column)} is not null`,
      ),
      sql` union all `,
    )}) where key is not null group by key order by key`;

/** How many rows one statement writes. */
const perStep = 200;

/**
 * Re-encrypts what was encrypted with an older key than the newest, so that the old key can be removed from HEADER_KEYS
 * in the end. Returns how much there was.
 */
export async function reEncrypt(env: Env, _?: number, budget = newBudget()): Promise<number> {
  let count = 0;
  for (const where of columns)
    await inSteps(budget, async () => {
      const found = await reEncryptSome(env, where);
      count += found;
      return found === perStep;
    });
  return count;
}

async function reEncryptSome(env: Env, where: (typeof columns)[number]): Promise<number> {
  const db = openDatabase(env);
  const { headerKeys } = config(env);
  const [table, id, column] = [where.table, where.id, where.column].map((name) => sql.identifier(name));
  const old = await statement<{ id: string; sealed: string }>(db)`
    select ${id} as id, ${column} as sealed from ${table}
      where ${column}->>'key' <> ${headerKeys[0]?.id ?? ''} limit ${perStep}`;
  const fresh = old.map(async ({ id, sealed }) => {
    const text = await unseal(headerKeys, id, JSON.parse(sealed) as Sealed); // as it was sealed
    return { id, sealed, fresh: JSON.stringify(await seal(headerKeys, id, text)) };
  });
  // Only what nobody has changed meanwhile.
  await change(db)`update ${table} set ${column} = r.fresh from (
        select value->>'id' as key, value->>'sealed' as was, value->>'fresh' as fresh
        from json_each(${JSON.stringify(await Promise.all(fresh))})) r
      where ${id} = r.key and ${column} = r.was`;
  return old.length;
}
