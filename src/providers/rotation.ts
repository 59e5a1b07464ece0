import { sql } from 'drizzle-orm';
import { config } from '../platform/config.ts';
import { type Sealed, seal, unseal } from '../platform/crypto.ts';
import { change, openDatabase, statement } from '../platform/db/database.ts';

const perHour = 500;

const columns = ['secrets', 'webhook_secret', 'session'] as const;

/**
 * Seals again what was sealed with an older key than the newest, of 500 connections each hour: credentials, secrets of
 * providers' webhooks, sessions. Returns how many.
 */
export async function resealCredentials(env: Env): Promise<number> {
  const db = openDatabase(env);
  const { headerKeys } = config(env);
  const newest = headerKeys[0]?.id ?? '';
  let count = 0;
  for (const name of columns) {
    const column = sql.raw(name);
    const old = await statement<{ id: string; sealed: string }>(
      db,
      sql`select connection_id as id, ${column} as sealed from pulls where ${column}->>'key' <> ${newest} limit ${perHour}`,
    );
    for (const { id, sealed } of old) {
      const fresh = await seal(headerKeys, id, await unseal(headerKeys, id, JSON.parse(sealed) as Sealed)); // as sealed
      // Only if nobody has changed it meanwhile.
      await change(
        db,
        sql`update pulls set ${column} = ${JSON.stringify(fresh)} where connection_id = ${id} and ${column} = ${sealed}`,
      );
    }
    count += old.length;
  }
  return count;
}
