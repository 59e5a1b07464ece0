import { and, eq, isNull, max, ne, notExists, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { groupKey } from '../../core/fleet/lists/group-keys.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { changes } from '../../core/platform/db/schema/fleet.ts';
import { portalUsers } from '../../people/tables.ts';
import { selectGroups } from '../filters/groups.ts';
import { mailFeeds, mailRules } from './tables.ts';

/** Levels, least risk of events (null: none) and groups (null: all) to be notified of. */
export type MailRule = { levels: number[]; risk: number | null; groups: string[] | null };

/** The rule of a user or channel, and the groups that it can be about. */
export async function findMailRule(env: Env, caller: Caller, recipientId = '') {
  const { rules, groups } = await asCaller(env, caller, (db) => ({
    rules: db.select().from(mailRules).where(isOf(recipientId, caller)),
    groups: selectGroups(db, caller),
  }));
  const [found] = rules;
  const rule: MailRule = {
    levels: [1, 2, 3].filter((level) => (found?.levels ?? 0) & (1 << (level - 1))),
    risk: found?.risk ?? null,
    groups: found?.groups ?? null,
  };
  return {
    rule,
    groups: [...new Set([...groups.map(({ name }) => name), ...(rule.groups ?? [])])],
  };
}

const isOf = (recipientId: string, { accountId }: { accountId: string }) =>
  and(eq(mailRules.recipientId, recipientId), eq(mailRules.accountId, accountId));

/** What was received since is looked at again: the job may not have seen it. */
const overlapMs = 60_000;

/** The statements that set the rule of a user or channel from now on. One that asks for nothing is deleted. */
export function saveMailRule(
  db: Database,
  { accountId }: Caller,
  recipientId: string,
  { levels, risk, groups }: MailRule,
) {
  const bits = levels.reduce((sum, level) => sum | (1 << (level - 1)), 0);
  const rule = { levels: bits, risk, groups, groupKeys: groups?.map(groupKey) ?? null };
  const now = Date.now();
  return [
    bits === 0 && risk === null
      ? deleteMailRule(db, { accountId }, recipientId)
      : db
          .insert(mailRules)
          .values({ recipientId, accountId, ...rule, since: now })
          .onConflictDoUpdate({
            target: mailRules.recipientId,
            set: { ...rule, since: now - overlapMs },
          }),
    followChanges(db, accountId),
  ] as const;
}

/** The statements that have an account's only person emailed of accidents, until they choose otherwise. */
export function ruleOfFirst(db: Database, { accountId }: Caller) {
  const others = alias(portalUsers, 'others');
  const isOther = and(eq(others.accountId, accountId), ne(others.id, portalUsers.id));
  const only = db
    .select({
      recipientId: portalUsers.id,
      accountId: portalUsers.accountId,
      levels: sql<number>`${allLevels}`.as('levels'),
      risk: sql<null>`null`.as('risk'),
      groups: sql<null>`null`.as('groups'),
      groupKeys: sql<null>`null`.as('group_keys'),
      since: sql<number>`${Date.now()}`.as('since'),
    })
    .from(portalUsers)
    .where(
      and(
        eq(portalUsers.accountId, accountId),
        isNull(portalUsers.confirmedAt),
        notExists(db.select({ id: others.id }).from(others).where(isOther)),
      ),
    );
  return [
    db.insert(mailRules).select(only).onConflictDoNothing(),
    followChanges(db, accountId),
  ] as const;
}

const allLevels = 7;

/** The statement that follows an account's changes from now on, if any rule needs them. */
function followChanges(db: Database, accountId: string) {
  const last = db
    .select({ seq: max(changes.seq) })
    .from(changes)
    .where(eq(changes.accountId, accountId));
  const feed = db
    .select({
      accountId: mailRules.accountId,
      seen: sql<number>`coalesce(${last}, 0)`.as('seen'),
    })
    .from(mailRules)
    .where(eq(mailRules.accountId, accountId))
    .limit(1);
  return db.insert(mailFeeds).select(feed).onConflictDoNothing();
}

export const deleteMailRule = (db: Database, account: { accountId: string }, recipientId: string) =>
  db.delete(mailRules).where(isOf(recipientId, account));
