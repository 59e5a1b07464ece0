import { sql } from 'drizzle-orm';
import { type Database, refuse, refuseUnless, write } from './database.ts';

/** A form of the portal: its key, which is random, and the request that handles it. */
export type SentForm = { key: string; requestId: string };

export const sentAlready = 'This form was sent already, and took effect once.';

/** The row by which a form takes effect once: nothing is written for another request with its key. */
export const claimForm = (db: Database, accountId: string, { key, requestId }: SentForm) =>
  write(db)`
    insert into sent_forms (account_id, id, request_id, at)
    values (${accountId}, ${key}, ${requestId}, ${Date.now()})
    on conflict do update set at = excluded.at
    where case when request_id <> excluded.request_id then ${refuse(sentAlready)} else true end`;

/** The statements by which what is valid for less than an hour is used once. A second use is refused. */
export const useOnce = (db: Database, accountId: string, id: string, refusal: string) =>
  [
    refuseUnless(
      db,
      sql`not exists (select 1 from sent_forms where account_id = ${accountId} and id = ${id})`,
      refusal,
    ),
    write(db)`
      insert into sent_forms (account_id, id, request_id, at) values (${accountId}, ${id}, '', ${Date.now()})`,
  ] as const;
