import { sql } from 'drizzle-orm';
import { config } from '../config.ts';
import { seal, unseal } from '../crypto.ts';
import { type Database, listOf, read, write } from '../db/database.ts';
import { openDatabase } from '../db/system.ts';
import { inSteps, newBudget } from './budget.ts';

/** Every encrypted column by table, and the id that it is bound to. */
const tables = [
  { table: 'webhooks', id: 'id', columns: ['headers', 'signing', 'oauth', 'oauth_token'] },
  { table: 'alert_channels', id: 'id', columns: ['address'] },
  { table: 'single_sign_on', id: 'account_id', columns: ['secret'] },
  { table: 'pulls', id: 'connection_id', columns: ['secrets', 'webhook_secret', 'session'] },
];

/** The statement that counts what each key has encrypted: reads all webhooks, channels and pulls. */
export const countEncrypted = (db: Database) =>
  read<{ key: string; encrypts: number }>(db)`
    select key, count(*) as encrypts from (${sql.join(
      tables.map(
        ({ table, columns }) => sql`
          select c.value->>'key' as key
          from ${sql.identifier(table)} cross join json_each(json_array(${listOf(columns)})) c`,
      ),
      sql` union all `,
    )}) where key is not null group by key order by key`;

const perStep = 200;

/** Re-encrypts what an older key has encrypted, so that it can be removed. Returns how many. */
export async function reEncrypt(env: Env, _?: number, budget = newBudget()): Promise<number> {
  let count = 0;
  const columns = tables.flatMap(({ table, id, columns }) =>
    columns.map((column) => [table, id, column]),
  );
  for (const names of columns)
    await inSteps(budget, async () => {
      const found = await reEncryptSome(env, names);
      count += found;
      return found === perStep;
    });
  return count;
}

async function reEncryptSome(env: Env, names: string[]): Promise<number> {
  const db = openDatabase(env);
  const newest = config(env).headerKeys[0]?.id ?? '';
  const [table, id, column] = names.map((name) => sql.identifier(name));
  const old = await read<{ id: string; sealed: string }>(db)`
    select ${id} as id, ${column} as sealed from ${table}
      where ${column}->>'key' <> ${newest} and exists (
        select 1 from accounts where id = account_id and status in ('active', 'suspended'))
      limit ${perStep}`;
  const fresh = old.map(async ({ id, sealed }) => {
    const text = await unseal(env, id, sealed);
    return { id, sealed, fresh: JSON.stringify(await seal(env, id, text)) };
  });
  // Only what has not changed meanwhile.
  await write(db)`update ${table} set ${column} = r.fresh from (
        select value->>'id' as key, value->>'sealed' as was, value->>'fresh' as fresh
        from json_each(${JSON.stringify(await Promise.all(fresh))})) r
      where ${id} = r.key and ${column} = r.was`;
  return old.length;
}
