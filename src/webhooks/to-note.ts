import { type SQL, sql } from 'drizzle-orm';
import type { Caller } from '../platform/db/guard.ts';

/**
 * Selects one of the account's webhooks for its audit log by its name, or else by the host of its url: paths and
 * queries can hold secrets. A normalised url has a path, and neither user nor password.
 */
export const webhookToNote = (caller: Caller, id: string): SQL => sql`
  select id, coalesce(name, substr(normalised_url, 9, instr(substr(normalised_url, 9), '/') - 1)) as name
  from webhooks where id = ${id} and account_id = ${caller.accountId}`;
