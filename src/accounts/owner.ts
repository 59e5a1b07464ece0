import { type SQL, sql } from 'drizzle-orm';
import { openDatabase } from '../platform/db/database.ts';
import type { Caller } from '../platform/db/guard.ts';
import { invalid } from '../platform/errors.ts';
import { askHomes } from '../platform/homes/each.ts';
import { hasHomes } from '../platform/homes/homes.ts';

/** The account of connections that are being deleted. */
export const nobody = '00000000-0000-0000-0000-000000000000';

/** How to find the account that owns something, by its id. */
const owners = {
  account: (id: string) => sql`select id as account_id from accounts where id = ${id}`,
  deletion: (id: string) => sql`select account_id from deletions where id = ${id}`,
  connection: (id: string) => sql`select account_id from connections where id = ${id}`,
  channel: (id: string) => sql`select account_id from alert_channels where id = ${id}`,
  link: (id: string) => sql`select account_id from connect_links where id = ${id}`,
  token: (id: string) => sql`select account_id from tokens where id = ${id}`,
  vehicle: (id: string) => sql`select account_id from vehicles where id = ${id}`,
  driver: (id: string) => sql`select account_id from drivers where id = ${id}
    union all select account_id from erased_drivers where id = ${id}`,
  // Deliveries outlive their webhook.
  webhook: (id: string) => sql`select account_id from webhooks where id = ${id}
    union all select account_id from (select account_id from deliveries where webhook_id = ${id} limit 1)`,
} satisfies Record<string, (id: string) => SQL>;

export type Owned = keyof typeof owners;

/** Whether an account in this home owns something with this id. */
export async function livesHere(env: Env, kind: Owned, id: string): Promise<boolean> {
  const found = await openDatabase(env).all(
    sql`select 1 from accounts where id in (${owners[kind](id)}) and home is null`,
  );
  return found.length > 0;
}

/** The account of an address in another home. Homes that do not respond are skipped. */
export async function ownerElsewhere(env: Env, email: string): Promise<string | undefined> {
  if (!hasHomes(env)) return undefined;
  const asked = await askHomes(env, (home) => ownerOf(home, email));
  return asked.find(([home, owner]) => home !== env && owner)?.[1];
}

/** The account of an address in this home. */
export async function ownerOf(env: Env, email: string): Promise<string | undefined> {
  const [owner] = await openDatabase(env).all<{ id: string }>(
    sql`select a.id from portal_users u join accounts a on a.id = u.account_id and a.home is null
      where u.email = ${email} and u.confirmed_at is not null`,
  );
  return owner?.id;
}

/** An operator acting in an account. The caller must have authenticated them. */
export const operatorIn = (accountId: string): Caller => ({ operator: true, accountId });

/** An operator acting in the account that owns something. @throws Refusal: invalid, when it does not exist */
export async function operatorInOwnerOf(env: Env, kind: Owned, id: string): Promise<Caller> {
  const [found] = await openDatabase(env).all<{ account_id: string }>(owners[kind](id));
  if (!found || found.account_id === nobody) throw invalid(`Unknown ${kind}`);
  return operatorIn(found.account_id);
}
