import { type SQL, sql } from 'drizzle-orm';
import type { Caller } from '../platform/db/guard.ts';

/**
 * Selects one of the account's webhooks for its audit log, by its name, or else by the host of its url alone: paths and
 * queries hold secrets of receivers. A url that is normalised has a path, and has no user and password.
 */
export const webhookToNote = (caller: Caller, id: string): SQL => sql`
  select id, coalesce(name, substr(normalised_url, 9, instr(substr(normalised_url, 9), '/') - 1)) as name
  from webhooks where id = ${id} and account_id = ${caller.accountId}`;
