import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import type { auditLog } from '../../platform/db/schema/accounts.ts';

type Action = (typeof auditLog.$inferSelect)['action'];
type Subject = (typeof auditLog.$inferSelect)['subject'];

const subjectOf = (subject: Subject) => sql`${subject}`;

/** What the log calls a row of each table. Paths and queries of webhooks hold secrets: it names their hosts. */
const audited = {
  accounts: { subject: subjectOf('account'), owner: sql`id` },
  connections: { subject: subjectOf('connection'), name: sql`coalesce(name, tsp)` },
  tokens: {
    subject: sql`iif(scope = 'api', ${subjectOf('API token')}, ${subjectOf('ingest key')})`,
  },
  webhooks: {
    subject: subjectOf('webhook'),
    name: sql`coalesce(name, substr(normalised_url, 9, instr(substr(normalised_url, 9), '/') - 1))`,
  },
  drivers: { subject: subjectOf('driver') },
} satisfies { [table: string]: Audited };

/** What the log calls a row of a table: of what kind it is, and SQL for its id and name, unless columns have them. */
type Audited = { subject: SQL; id?: SQL; name?: SQL; owner?: SQL };

/** A table of others, whose rows the log calls by this subject. */
export type AuditedTable = Omit<Audited, 'subject' | 'owner'> & { table: string; subject: Subject };

/** Who acts: a caller, or the service itself in an account. */
type Actor = Caller | { service: true; accountId: string };

/**
 * The statement that writes an audit entry, for the transaction of the change, before a deletion: about the account's
 * row with an id, or the one that SQL selects. `fields` are the changed ones. Writes two rows.
 */
export function audit(
  db: Database,
  actor: Actor,
  action: Action,
  what: keyof typeof audited | AuditedTable,
  about: string | SQL | undefined,
  fields: string[] = [],
) {
  const isOurs = typeof what === 'string';
  const table = isOurs ? what : what.table;
  const row: Audited = isOurs ? audited[what] : { ...what, subject: subjectOf(what.subject) };
  const { subject, id = sql`id`, owner = sql`account_id` } = row;
  const isForgotten = action === 'erased' || (action === 'deleted' && table === 'accounts');
  const name = isForgotten ? sql`null` : (row.name ?? sql`name`);
  const { accountId } = actor;
  const which = typeof about === 'string' ? sql`${id} = ${about}` : about;
  // Raw for speed: it is part of nearly every change.
  return db.run(sql`
    insert into audit_log (account_id, seq, at, actor, actor_id, actor_name, action, subject,
      subject_id, subject_name, fields)
    select ${accountId},
      1 + coalesce((select max(seq) from audit_log where account_id = ${accountId}), 0),
      ${Date.now()}, ${kindOf(actor)}, who.id, who.name, ${action}, changed.*,
      ${JSON.stringify(fields)}
    from (
      select ${subject}, ${id}, ${name}
      from ${sql.identifier(table)}
      where ${owner} = ${accountId} and ${which}
    ) changed
    left join ${whoIs(actor)} who
    limit 1`);
}

function kindOf(actor: Actor): 'operator' | 'person' | 'token' | 'service' {
  if ('service' in actor) return 'service';
  if ('operator' in actor) return 'operator';
  return 'tokenId' in actor ? 'token' : 'person';
}

/** Taken from the credential itself, so that nobody can act in another's name. */
function whoIs(actor: Actor): SQL {
  if ('tokenId' in actor) return sql`(select id, name from tokens where id = ${actor.tokenId})`;
  if ('credential' in actor) return actor.credential.who;
  return sql`(select null as id, null as name)`;
}

/** SQL for who created an API token: an address, or "the operator"; null if the audit log has no entry. */
export const creatorOfToken = (id: SQL, accountId: SQL): SQL<string | null> => sql<string | null>`(
  select iif(actor = 'operator', 'the operator', actor_name)
  from audit_log indexed by audit_log_new_tokens
  where subject = 'API token' and action = 'created' and subject_id = ${id} and account_id = ${accountId}
  limit 1)`;
