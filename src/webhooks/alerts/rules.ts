import { groupKey } from '../../fleet/lists/group-keys.ts';
import { type Database, read, write } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';

/** Levels, least risk of events (null: none) and groups (null: all) to be notified of. */
export type MailRule = { levels: number[]; risk: number | null; groups: string[] | null };

type Stored = { levels: number; risk: number | null; groups: string | null };

/** How many groups people can choose from, of how many vehicles. */
const maxGroups = 100;
const maxVehicles = 2000;

/** The groups of the account's vehicles. */
export const selectGroups = (db: Database, { accountId }: Caller) =>
  read<{ name: string }>(db)`
    select distinct g.value as name
    from (select id from names where account_id = ${accountId} and kind = 'vehicle' limit ${maxVehicles}) n
    cross join vehicles v on v.id = n.id cross join json_each(v.groups) g
    order by name limit ${maxGroups}`;

/** The rule of a user or channel, and the groups that it can be about. */
export async function findMailRule(env: Env, caller: Caller, recipientId = '') {
  const { rules, groups } = await asCaller(env, caller, (db) => ({
    rules: read<Stored>(db)`
      select levels, risk, groups from mail_rules
      where recipient_id = ${recipientId} and account_id = ${caller.accountId}`,
    groups: selectGroups(db, caller),
  }));
  const [found] = rules;
  const rule: MailRule = {
    levels: [1, 2, 3].filter((level) => (found?.levels ?? 0) & (1 << (level - 1))),
    risk: found?.risk ?? null,
    groups: JSON.parse(found?.groups ?? 'null'),
  };
  return {
    rule,
    groups: [...new Set([...groups.map(({ name }) => name), ...(rule.groups ?? [])])],
  };
}

/** What was received since is looked at again: the job may not have seen it. */
const overlapMs = 60_000;

/** Sets a user's rule for what is received from now on. */
export async function setMailRule(
  env: Env,
  caller: Caller,
  userId: string,
  rule: MailRule,
): Promise<void> {
  await asCaller(env, caller, (db) => saveMailRule(db, caller, userId, rule), { repeatable: true });
}

/** The statements that set the rule of a user or channel. A rule that asks for nothing is deleted. */
export function saveMailRule(
  db: Database,
  { accountId }: Caller,
  recipientId: string,
  { levels, risk, groups }: MailRule,
) {
  const bits = levels.reduce((sum, level) => sum | (1 << (level - 1)), 0);
  return [
    bits === 0 && risk === null
      ? deleteMailRule(db, { accountId }, recipientId)
      : write(db)`
          insert into mail_rules (recipient_id, account_id, levels, risk, groups, group_keys, since)
          values (${recipientId}, ${accountId}, ${bits}, ${risk}, ${groups && JSON.stringify(groups)},
            ${groups && JSON.stringify(groups.map(groupKey))}, ${Date.now()})
          on conflict do update set levels = excluded.levels, risk = excluded.risk, groups = excluded.groups,
            group_keys = excluded.group_keys,
            since = excluded.since - ${overlapMs}`,
    followChanges(db, accountId),
  ] as const;
}

/** The statements that have an account's only person emailed of accidents, until they choose otherwise. */
export const ruleOfFirst = (db: Database, { accountId }: Caller) =>
  [
    write(db)`
      insert into mail_rules (recipient_id, account_id, levels, risk, groups, group_keys, since)
      select id, account_id, ${allLevels}, null, null, null, ${Date.now()} from portal_users u
      where account_id = ${accountId} and confirmed_at is null
        and not exists (select 1 from portal_users where account_id = ${accountId} and id <> u.id)
      on conflict do nothing`,
    followChanges(db, accountId),
  ] as const;

const allLevels = 7;

/** The statement that follows an account's changes from now on, if any rule needs them. */
const followChanges = (db: Database, accountId: string) =>
  write(db)`
    insert into mail_feeds (account_id, seen)
    select ${accountId}, coalesce((select max(seq) from changes where account_id = ${accountId}), 0)
    where exists (select 1 from mail_rules where account_id = ${accountId})
    on conflict do nothing`;

export const deleteMailRule = (
  db: Database,
  { accountId }: { accountId: string },
  recipientId: string,
) =>
  write(
    db,
  )`delete from mail_rules where recipient_id = ${recipientId} and account_id = ${accountId}`;
