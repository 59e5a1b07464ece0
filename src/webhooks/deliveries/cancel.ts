import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, jsonList, openDatabase, statement } from '../../platform/db/database.ts';
import type { Budget } from '../../platform/jobs/budget.ts';
import type { Owner, Remover } from '../../platform/jobs/chunks.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/jobs/chunks.ts';
import { withoutRecipient } from '../notifications/remove.ts';
import { claimedUntil, leaseMs, startWindowMs } from './claim.ts';
import { allWebhooks } from './sweep.ts';

/**
 * Cancels the pending deliveries of a deleted webhook that no call is under way for. The sweep finds what is
 * left.
 */
export async function cancelDeleted(env: Env, webhookId: string): Promise<void> {
  const now = Date.now();
  await changeInChunks(
    openDatabase(env),
    sql`
    update deliveries set status = 'cancelled', finished_at = ${now}
    where (webhook_id, id) in (
        select webhook_id, id from deliveries indexed by deliveries_due
        where webhook_id = ${webhookId} and status = 'pending' and next_attempt_at is not null
          and claimed_until <= ${now} limit ${rowsPerChunk})
      and not exists (select 1 from webhooks where id = ${webhookId})`,
  );
}

/** Cancels the pending deliveries of webhooks that have been stopped and that no call is under way for. */
export async function cancelPending(env: Env, webhookIds: string[], budget?: Budget): Promise<void> {
  const now = Date.now();
  await changeInChunks(
    openDatabase(env),
    sql`
    update deliveries set status = 'cancelled', finished_at = ${now}
    where (webhook_id, id) in (
        select d.webhook_id, d.id from webhooks w
        cross join deliveries d indexed by deliveries_due
          on d.webhook_id = w.id and d.status = 'pending' and d.next_attempt_at is not null and d.claimed_until <= ${now}
        where w.id in ${jsonList(webhookIds)} and w.stopped_at is not null limit ${rowsPerChunk})`,
    budget,
  );
}

/** Waits until no more calls can start for what is claimed of these webhooks now: some seconds at most. */
export async function untilNoCallStarts(env: Env, webhookIds: string[]): Promise<void> {
  const db = openDatabase(env);
  for (let atMost: number | undefined; ; ) {
    const now = Date.now();
    const until = claimedUntil(sql`w.value`, { now, since: now - startWindowMs, atMost });
    const [row] = await db.all<{ until: number }>(sql`
      select max(${until}) as until from json_each(${JSON.stringify(webhookIds)}) w`);
    if (!row?.until) return;
    atMost ??= row.until;
    await scheduler.wait(50);
  }
}

/**
 * The last time, up to `atMost`, until which deliveries of an account are claimed (milliseconds since 1970), those of
 * deleted webhooks too: by then no more calls are under way for them, and all are recorded. Null if none is.
 */
export async function claimedUntilOf(env: Env, accountId: string, atMost?: number): Promise<number | null> {
  const now = Date.now();
  const [row] = await openDatabase(env).all<{ until: number | null }>(sql`
    with ${allWebhooks}
    select max(${claimedUntil(sql`hooks.id`, { now, since: now - leaseMs, atMost })}) as until
    from hooks where (select account_id from deliveries where webhook_id = hooks.id limit 1) = ${accountId}`);
  return row?.until || null;
}

/** How many rows a chunk looks through, and how many webhooks it passes to find one of the account. */
const scannedPerChunk = 2000;
const webhooksPerChunk = 2000;

/**
 * Deletes the deliveries of the account's webhooks, deleted ones included; for a connection, those of its notifications,
 * which therefore go later.
 */
export const removeDeliveries: Remover = async (env, owner, cursor) => {
  const db = openDatabase(env);
  const chunk = await nextChunk(db, owner.accountId, cursor);
  if (chunk?.range) await change(db)`delete from deliveries as d where ${chunk.range} ${ofConnection(owner)}`;
  return chunk?.next;
};

const ofConnection = ({ connectionId }: Owner): SQL =>
  connectionId === null
    ? sql.empty()
    : sql`and (d.connection_id = ${connectionId}
        or exists (select 1 from notifications n
          where n.event_id = d.event_id and n.level = d.level and n.connection_id = ${connectionId})
        or exists (select 1 from safety_events e where e.id = d.event_id and e.connection_id = ${connectionId}))`;

/** Deletes the fan-outs of the account or the connection. There are hardly ever any. */
export const removeFanOuts = (db: Database, { accountId, connectionId }: Owner) =>
  change(db)`delete from fan_outs where account_id = ${accountId}
      ${connectionId === null ? sql.empty() : sql`and connection_id = ${connectionId}`}`;

/** Changes a column of the account's deliveries where it contains an address, given in lower case. */
const erasing =
  (column: 'data' | 'log', without: (email: string) => SQL) =>
  (email: string): Remover =>
  async (env, { accountId }, cursor) => {
    const db = openDatabase(env);
    const chunk = await nextChunk(db, accountId, cursor);
    const name = sql.raw(column);
    if (chunk?.range)
      await change(db)`
        update deliveries set ${name} = ${without(email)} where ${chunk.range} and instr(lower(${name}), ${email}) > 0`;
    return chunk?.next;
  };

/** Takes an address from the recipients that payloads of the account's deliveries name. */
export const erasePayloads = erasing('data', withoutRecipient);

/** Takes what receivers answered from the account's deliveries where it contains an address. */
export const eraseAnswers = erasing(
  'log',
  () => sql`(select json_group_array(json_remove(value, '$.answer')) from json_each(log))`,
);

/** Some of the account's deliveries, and the cursor of the rest. No `range` where only others' were passed. */
type Chunk = { range: SQL | undefined; next: string };

/**
 * The account's next deliveries, webhook by webhook: a webhook's all belong to one account, and deleted webhooks have
 * some, too. Undefined once there are none.
 */
async function nextChunk(db: Database, accountId: string, cursor: string): Promise<Chunk | undefined> {
  const [webhookId = '', id = ''] = cursor.split('/');
  if (id !== '') return chunkOf(db, webhookId, id);
  const [found] = await statement<{ own: string | null; last: string | null }>(db)`
    with recursive hooks (id) as (
      select min(webhook_id) from deliveries where webhook_id > ${webhookId}
      union all
      select (select min(webhook_id) from deliveries where webhook_id > hooks.id)
      from hooks where hooks.id is not null limit ${webhooksPerChunk}),
    passed as (
      select id, (select account_id from deliveries where webhook_id = hooks.id limit 1) as account_id
      from hooks where id is not null)
    select (select min(id) from passed where account_id = ${accountId}) as own,
      (select max(id) from passed) as last`;
  if (found?.own) return chunkOf(db, found.own, '');
  return found?.last ? { range: undefined, next: `${found.last}/` } : undefined;
}

async function chunkOf(db: Database, webhookId: string, after: string): Promise<Chunk> {
  const [end] = await statement<{ id: string }>(db)`
    select id from deliveries where webhook_id = ${webhookId} and id > ${after}
      order by id limit 1 offset ${scannedPerChunk - 1}`;
  const range = sql`webhook_id = ${webhookId} and id > ${after}`;
  return end
    ? { range: sql`${range} and id <= ${end.id}`, next: `${webhookId}/${end.id}` }
    : { range, next: `${webhookId}/` };
}
