import { sql } from 'drizzle-orm';
import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';

/** How far an account has been set up. `connection` is the name of its first one, `vehicles` how many that has, up to 1,000. */
export type Setup = {
  connection: string | null;
  sent: number;
  vehicles: number;
  webhook: number;
  token: number;
};

/** Of each kind of record one is looked for, connection by connection until there is one. */
export const selectSetup = (db: Database, { accountId }: Caller) =>
  statement<Setup>(
    db,
    sql`
    select
      (select coalesce(name, tsp) from connections where account_id = ${accountId} order by created_at, id limit 1)
        as connection,
      exists (
        select 1 from connections c where account_id = ${accountId} and (
          exists (select 1 from vehicles where connection_id = c.id)
          or exists (select 1 from safety_events where connection_id = c.id)
          or exists (select 1 from accidents where connection_id = c.id)
          or exists (select 1 from drivers where connection_id = c.id))) as sent,
      (select count(*) from (
        select 1 from vehicles where connection_id = (
          select id from connections where account_id = ${accountId} order by created_at, id limit 1)
        limit 1000)) as vehicles,
      exists (select 1 from webhooks where account_id = ${accountId}) as webhook,
      exists (
        select 1 from tokens indexed by tokens_active
        where account_id = ${accountId} and scope = 'api' and revoked_at is null) as token`,
  );
