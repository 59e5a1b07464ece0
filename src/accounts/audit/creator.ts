import { type SQL, sql } from 'drizzle-orm';

/**
 * SQL for who created an API token: a person's address as it was then, or "the operator"; null if the audit log does not
 * know any more. Reads one entry, by an index that holds new tokens alone. `id` and `accountId` are columns of the token.
 */
export const creatorOfToken = (id: SQL, accountId: SQL): SQL<string | null> => sql<string | null>`(
  select iif(actor = 'operator', 'the operator', actor_name)
  from audit_log indexed by audit_log_new_tokens
  where subject = 'API token' and action = 'created' and subject_id = ${id} and account_id = ${accountId}
  limit 1)`;
