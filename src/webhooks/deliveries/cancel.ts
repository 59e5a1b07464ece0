import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, jsonList, openDatabase, statement } from '../../platform/db/database.ts';
import type { Budget } from '../../platform/jobs/budget.ts';
import type { Owner, Remover } from '../../platform/jobs/chunks.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/jobs/chunks.ts';
import { withoutRecipient } from '../notifications/remove.ts';
import { claimedUntil, leaseMs, startWindowMs } from './claim.ts';
import { allWebhooks } from './sweep.ts';

/** Cancels the pending deliveries of a deleted webhook, except those in flight, which the sweep finds later. */
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

/** Cancels the pending deliveries of stopped webhooks, except those in flight. */
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

/** Waits some seconds, until no call can start any more for what is claimed of these webhooks. */
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
 * Until when deliveries of an account are claimed (milliseconds since 1970), at most `atMost`, including those of
 * deleted webhooks. By then no call is in flight and all are recorded. Null if none is claimed.
 */
export async function claimedUntilOf(env: Env, accountId: string, atMost?: number): Promise<number | null> {
  const now = Date.now();
  const [row] = await openDatabase(env).all<{ until: number | null }>(sql`
    with ${allWebhooks}
    select max(${claimedUntil(sql`hooks.id`, { now, since: now - leaseMs, atMost })}) as until
    from hooks where (select account_id from deliveries where webhook_id = hooks.id limit 1) = ${accountId}`);
  return row?.until || null;
}

/** How many rows a chunk scans, and how many webhooks it passes to find one of the account. */
const scannedPerChunk = 2000;
const webhooksPerChunk = 2000;

/** Deletes the deliveries of a connection's notifications, which must go later. */
export const removeDeliveries: Remover = async (env, owner, cursor) => {
  const db = openDatabase(env);
  const chunk = await nextChunk(db, owner.accountId, cursor);
  if (chunk?.range)
    await change(db)`delete from deliveries as d where ${chunk.range} and ${ofConnection(owner)}`;
  return chunk?.next;
};

const ofConnection = ({ connectionId }: Owner): SQL =>
  sql`(d.connection_id = ${connectionId}
    or exists (select 1 from notifications n
      where n.event_id = d.event_id and n.level = d.level and n.connection_id = ${connectionId})
    or exists (select 1 from safety_events e where e.id = d.event_id and e.connection_id = ${connectionId}))`;

/** Deletes the fan-outs of a connection, which are rare. */
export const removeFanOuts = (db: Database, { accountId, connectionId }: Owner) =>
  change(db)`delete from fan_outs where account_id = ${accountId} and connection_id = ${connectionId}`;

/** Changes a column of the account's deliveries where it contains an address in lower case. */
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

/** Removes an address from the recipients in the payloads of the account's deliveries. */
export const erasePayloads = erasing('data', withoutRecipient);

/** Removes responses that contain an address from the account's deliveries. */
export const eraseAnswers = erasing(
  'log',
  () => sql`(select json_group_array(json_remove(value, '$.answer')) from json_each(log))`,
);

/** Some of the account's deliveries, and the next cursor. No `range` if only others' were passed. */
type Chunk = { range: SQL | undefined; next: string };

/**
 * The account's next deliveries, webhook by webhook, deleted webhooks included: all of a webhook's belong to one
 * account. Undefined at the end.
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
