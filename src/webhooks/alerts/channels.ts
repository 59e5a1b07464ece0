import { sql } from 'drizzle-orm';
import { audit } from '../../accounts/audit/write.ts';
import { config } from '../../platform/config.ts';
import { seal } from '../../platform/crypto.ts';
import { type Database, read, refuseUnless, write } from '../../platform/db/database.ts';
import { asCaller, type Caller, rowsFor } from '../../platform/db/guard.ts';
import { newId } from '../../platform/db/ids.ts';
import { post, type Target } from './call.ts';
import { type Channel, type ChannelInput, maxChannels } from './channel-input.ts';
import { deleteMailRule, type MailRule, saveMailRule } from './rules.ts';

/** The channels of the account, oldest first. */
export async function listChannels(env: Env, caller: Caller): Promise<Channel[]> {
  type StoredChannel = Omit<Channel, 'getsAlerts'> & { getsAlerts: number };
  const rows = await rowsFor<StoredChannel>(env, caller)`
    select id, kind, name, host, last_four as lastFour, gets_alerts as getsAlerts, problem, problem_at as problemAt
    from alert_channels where account_id = ${caller.accountId} order by created_at, id`;
  return rows.map((row) => ({ ...row, getsAlerts: row.getsAlerts === 1 }));
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
  const address = url === '' ? '{}' : JSON.stringify(await seal(env, id, { url }));
  const host = url === '' ? '' : new URL(url).host;
  const room = sql`(select count(*) from alert_channels where account_id = ${accountId}) < ${maxChannels}`;
  await asCaller(env, caller, (db) => [
    known
      ? mustBeOurs(db, caller, id)
      : refuseUnless(db, room, `An account can have at most ${maxChannels} channels`),
    // Without a URL it keeps its own.
    write(db)`
      insert into alert_channels (id, account_id, kind, name, address, host, last_four, gets_alerts, created_at)
      values (${id}, ${accountId}, ${input.kind}, ${input.name}, ${address}, ${host}, ${url.slice(-4)},
        ${input.getsAlerts ? 1 : 0}, ${Date.now()})
      on conflict (id) do update set kind = excluded.kind, name = excluded.name, gets_alerts = excluded.gets_alerts
        ${
          url === ''
            ? undefined
            : sql`, address = excluded.address, host = excluded.host, last_four = excluded.last_four,
          problem = null, problem_at = null`
        }`,
    saveMailRule(db, caller, id, rule),
    audit(db, caller, known ? 'changed' : 'created', 'alert_channels', id),
  ]);
  return id;
}

/** Removes a channel. What it waits for is dropped. @throws Refusal: not found */
export async function removeChannel(env: Env, caller: Caller, id: string): Promise<void> {
  await asCaller(env, caller, (db) => [
    mustBeOurs(db, caller, id),
    audit(db, caller, 'deleted', 'alert_channels', id),
    write(db)`delete from alert_channels where id = ${id}`,
    deleteMailRule(db, caller, id),
  ]);
}

/** Sends a test message at once. Returns why it did not arrive, or null if it did. @throws Refusal: not found */
export async function testChannel(env: Env, caller: Caller, id: string): Promise<string | null> {
  const { accountId } = caller;
  const find = (db: Database) => ({
    ours: mustBeOurs(db, caller, id),
    targets: read<Target & { account: string }>(db)`
      select h.id, h.kind, h.address, a.name as account
      from alert_channels h join accounts a on a.id = h.account_id where h.id = ${id}`,
    cleared: setProblem(db, caller, id, null),
  });
  const [target] = (await asCaller(env, caller, find)).targets;
  if (!target) return null;
  const { origin } = config(env);
  const link = origin && { url: `${origin}/portal/settings/notifications`, label: 'Notifications' };
  const problem = await post(env, target, {
    ...{ accountId, account: target.account, kind: 'test', subject: 'Test message' },
    parts: [{ text: 'This channel is notified as chosen in the settings.', ...(link && { link }) }],
  });
  await asCaller(env, caller, (db) => setProblem(db, caller, id, problem));
  return problem;
}

const setProblem = (db: Database, { accountId }: Caller, id: string, problem: string | null) =>
  write(db)`
    update alert_channels set problem = ${problem}, problem_at = ${problem && Date.now()}
    where id = ${id} and account_id = ${accountId}`;

const mustBeOurs = (db: Database, { accountId }: Caller, id: string) =>
  refuseUnless(
    db,
    sql`exists (select 1 from alert_channels where id = ${id} and account_id = ${accountId})`,
    { kind: 'not found' },
  );
