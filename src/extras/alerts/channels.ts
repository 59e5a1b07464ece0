import { and, eq, exists, lt } from 'drizzle-orm';
import { audit } from '../../core/accounts/audit/write.ts';
import { config } from '../../core/platform/config.ts';
import { seal } from '../../core/platform/crypto.ts';
import { type Database, refuseUnless } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import { post } from './call.ts';
import { type Channel, type ChannelInput, maxChannels } from './channel-input.ts';
import { deleteMailRule, type MailRule, saveMailRule } from './rules.ts';
import { alertChannels, auditedChannel } from './tables.ts';

/** The channels of the account, oldest first. */
export function listChannels(env: Env, caller: Caller): Promise<Channel[]> {
  const { id, kind, name, host, lastFour, getsAlerts, problem, problemAt, sentAt } = alertChannels;
  return asCaller(env, caller, (db) =>
    db
      .select({ id, kind, name, host, lastFour, getsAlerts, problem, problemAt, sentAt })
      .from(alertChannels)
      .where(eq(alertChannels.accountId, caller.accountId))
      .orderBy(alertChannels.createdAt, id),
  );
}

export const findChannel = async (
  env: Env,
  caller: Caller,
  id: string,
): Promise<Channel | undefined> =>
  (await listChannels(env, caller)).find((channel) => channel.id === id);

/** Adds a channel, or changes the `known` one. @throws Refusal: invalid; not found */
export async function saveChannel(
  env: Env,
  caller: Caller,
  { url, ...input }: ChannelInput,
  rule: MailRule,
  known?: string,
): Promise<string> {
  const id = known ?? newId();
  const { accountId } = caller;
  const place = {
    address: url === '' ? '{}' : JSON.stringify(await seal(env, id, { url })),
    host: url === '' ? '' : new URL(url).host,
    lastFour: url.slice(-4),
  };
  await asCaller(env, caller, (db) => [
    known
      ? mustBeOurs(db, caller, id)
      : refuseUnless(
          db,
          lt(db.$count(alertChannels, eq(alertChannels.accountId, accountId)), maxChannels),
          `An account can have at most ${maxChannels} channels`,
        ),
    db
      .insert(alertChannels)
      .values({ id, accountId, ...input, ...place, createdAt: Date.now() })
      .onConflictDoUpdate({
        target: alertChannels.id,
        // Without a URL it keeps its own.
        set: { ...input, ...(url !== '' && { ...place, problem: null, problemAt: null }) },
      }),
    saveMailRule(db, caller, id, rule),
    audit(db, caller, known ? 'changed' : 'created', auditedChannel, id),
  ]);
  return id;
}

/** Removes a channel. What it waits for is dropped. @throws Refusal: not found */
export async function removeChannel(env: Env, caller: Caller, id: string): Promise<void> {
  await asCaller(env, caller, (db) => [
    mustBeOurs(db, caller, id),
    audit(db, caller, 'deleted', auditedChannel, id),
    db.delete(alertChannels).where(eq(alertChannels.id, id)),
    deleteMailRule(db, caller, id),
  ]);
}

/** Sends a test message at once. Returns why it did not arrive, or null if it did. @throws Refusal: not found */
export async function testChannel(env: Env, caller: Caller, id: string): Promise<string | null> {
  const { accountId } = caller;
  const find = (db: Database) => ({
    ours: mustBeOurs(db, caller, id),
    targets: db
      .select({
        id: alertChannels.id,
        kind: alertChannels.kind,
        address: alertChannels.address,
        account: accounts.name,
      })
      .from(alertChannels)
      .innerJoin(accounts, eq(accounts.id, alertChannels.accountId))
      .where(eq(alertChannels.id, id)),
    cleared: setProblem(db, caller, id, { problem: null, problemAt: null }),
  });
  const [target] = (await asCaller(env, caller, find)).targets;
  if (!target) return null;
  const { origin } = config(env);
  const link = origin && { url: `${origin}/portal/settings/notifications`, label: 'Notifications' };
  const problem = await post(env, target, {
    ...{ accountId, account: target.account, kind: 'test', subject: 'Test message' },
    parts: [{ text: 'This channel is notified as chosen in the settings.', ...(link && { link }) }],
  });
  await asCaller(env, caller, (db) => setProblem(db, caller, id, outcomeOf(problem, Date.now())));
  return problem;
}

type Outcome = Partial<Pick<typeof alertChannels.$inferSelect, 'problem' | 'problemAt' | 'sentAt'>>;

/** What a channel keeps of its last message. */
export const outcomeOf = (problem: string | null, now: number): Outcome =>
  problem === null ? { problem, problemAt: null, sentAt: now } : { problem, problemAt: now };

const setProblem = (db: Database, caller: Caller, id: string, outcome: Outcome) =>
  db.update(alertChannels).set(outcome).where(isOurs(caller, id));

const mustBeOurs = (db: Database, caller: Caller, id: string) =>
  refuseUnless(
    db,
    exists(db.select({ id: alertChannels.id }).from(alertChannels).where(isOurs(caller, id))),
    { kind: 'not found' },
  );

const isOurs = ({ accountId }: Caller, id: string) =>
  and(eq(alertChannels.id, id), eq(alertChannels.accountId, accountId));
