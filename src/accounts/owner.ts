import { type SQL, sql } from 'drizzle-orm';
import { openDatabase } from '../db/database.ts';
import type { Caller } from '../db/guard.ts';
import { invalid } from '../errors.ts';

/** The account that connections belong to while they are being deleted: nobody's. */
export const nobody = '00000000-0000-0000-0000-000000000000';

/** Where operators' look-ups by id find the account that something belongs to. */
const owners = {
  connection: (id: string) => sql`select account_id from connections where id = ${id}`,
  token: (id: string) => sql`select account_id from tokens where id = ${id}`,
  driver: (id: string) => sql`select account_id from drivers where id = ${id}
    union all select account_id from erased_drivers where id = ${id}`,
  // Deliveries outlive their webhook.
  webhook: (id: string) => sql`select account_id from webhooks where id = ${id}
    union all select account_id from (select account_id from deliveries where webhook_id = ${id} limit 1)`,
} satisfies Record<string, (id: string) => SQL>;

/** An operator acting in one account. The caller has already been authenticated as an operator. */
export const operatorIn = (accountId: string): Caller => ({ operator: true, accountId });

/**
 * An operator acting in the account that something belongs to.
 *
 * @throws Refusal: invalid, when there is no such thing
 */
export async function operatorInOwnerOf(env: Env, kind: keyof typeof owners, id: string): Promise<Caller> {
  const [found] = await openDatabase(env).all<{ account_id: string }>(owners[kind](id));
  if (!found || found.account_id === nobody) throw invalid(`Unknown ${kind}`);
  return operatorIn(found.account_id);
}
