import { type SQL, sql } from 'drizzle-orm';
import { read } from '../platform/db/database.ts';
import type { Caller } from '../platform/db/guard.ts';
import { openDatabase } from '../platform/db/system.ts';
import { invalid, Refusal } from '../platform/errors.ts';

/** The account of connections that are being deleted. */
export const nobody = '00000000-0000-0000-0000-000000000000';

/** How to find the account that owns something, by its id. */
const owners = {
  account: (id: string) => sql`select id as account_id from accounts where id = ${id}`,
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

/** For a credential that is unknown here: it may be of an account that has moved. @throws Refusal: moved */
export async function refuseIfMoved(env: Env): Promise<void> {
  const moved = await read<{ cell: string }>(
    openDatabase(env),
  )`select distinct cell from accounts where status = 'moved'`;
  if (moved.length > 0) throw new Refusal({ kind: 'moved', cells: moved.map(({ cell }) => cell) });
}

/** An operator acting in an account. The caller must have authenticated them. */
export const operatorIn = (accountId: string): Caller => ({ operator: true, accountId });

/** An operator acting in the account that owns something. @throws Refusal: invalid, when it does not exist */
export async function operatorInOwnerOf(env: Env, kind: Owned, id: string): Promise<Caller> {
  const [found] = await read<{ account_id: string }>(openDatabase(env))`${owners[kind](id)}`;
  if (!found || found.account_id === nobody) throw invalid(`Unknown ${kind}`);
  return operatorIn(found.account_id);
}
