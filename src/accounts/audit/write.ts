import { type SQL, sql } from 'drizzle-orm';
import { type Database, write } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import type { Action, Subject } from './kinds.ts';

/**
 * A change to audit. `of` selects the `id` and `name` of what changes, before a deletion; `fields`
 * are the changed ones. Contains no secrets: a webhook without a name is named by its host.
 */
export type Change = { action: Action; subject: Subject | SQL; of: SQL; fields?: string[] };

/** Who acts: a caller, or the service itself in an account. */
type Actor = Caller | { service: true; accountId: string };

/** The statement that writes an audit entry, for the transaction of the change. Writes two rows. */
export const audit = (db: Database, actor: Actor, { action, subject, of, fields = [] }: Change) =>
  write(db)`
    insert into audit_log (account_id, seq, at, actor, actor_id, actor_name, action, subject, subject_id,
      subject_name, fields)
    select ${actor.accountId},
      1 + coalesce((select max(seq) from audit_log where account_id = ${actor.accountId}), 0), ${Date.now()},
      ${kindOf(actor)}, who.id, who.name, ${action}, ${subject}, subject.id, subject.name,
      ${JSON.stringify(fields)}
    from (${of}) subject left join (${whoIs(actor)}) who limit 1`;

/** Audits something about the caller's account, if `only` holds. */
export const auditAccount = (db: Database, caller: Caller, field: string, only = sql`true`) =>
  audit(db, caller, {
    action: 'changed',
    subject: 'account',
    of: sql`select id, name from accounts where id = ${caller.accountId} and ${only}`,
    fields: [field],
  });

function kindOf(actor: Actor): 'operator' | 'person' | 'token' | 'service' {
  if ('service' in actor) return 'service';
  if ('operator' in actor) return 'operator';
  return 'tokenId' in actor ? 'token' : 'person';
}

/** Taken from the credential itself, so that nobody can act in another's name. */
function whoIs(actor: Actor): SQL {
  if ('tokenId' in actor) return sql`select id, name from tokens where id = ${actor.tokenId}`;
  if ('sessionHash' in actor)
    return sql`select u.id, u.email as name from sessions s join portal_users u on u.id = s.user_id
      where s.hash = ${actor.sessionHash}`;
  if ('link' in actor)
    return sql`select id, 'Connect link for ' || name as name from connect_links where hash = ${actor.link}`;
  return sql`select null as id, null as name`;
}

/** SQL for who created an API token: an address, or "the operator"; null if the audit log has no entry. */
export const creatorOfToken = (id: SQL, accountId: SQL): SQL<string | null> => sql<string | null>`(
  select iif(actor = 'operator', 'the operator', actor_name)
  from audit_log indexed by audit_log_new_tokens
  where subject = 'API token' and action = 'created' and subject_id = ${id} and account_id = ${accountId}
  limit 1)`;
