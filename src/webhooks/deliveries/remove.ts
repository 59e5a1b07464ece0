import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase, statement } from '../../platform/db/database.ts';
import type { Owner, Remover } from '../../platform/jobs/chunks.ts';

/** How many rows a chunk looks through, and how many webhooks it passes to find one of the account. */
const rowsPerChunk = 2000;
const webhooksPerChunk = 2000;

/**
 * Deletes the deliveries of the account's webhooks, deleted ones included; for a connection, those of its notifications,
 * which therefore go later.
 */
export const removeDeliveries: Remover = async (env, owner, cursor) => {
  const db = openDatabase(env);
  const chunk = await nextChunk(db, owner.accountId, cursor);
  if (chunk?.range)
    await change(db, sql`delete from deliveries as d where ${chunk.range} ${ofConnection(owner)}`);
  return chunk?.next;
};

const ofConnection = ({ connectionId }: Owner): SQL =>
  connectionId === null
    ? sql.empty()
    : sql`and (
        exists (select 1 from notifications n
          where n.event_id = d.event_id and n.level = d.level and n.connection_id = ${connectionId})
        or exists (select 1 from safety_events e where e.id = d.event_id and e.connection_id = ${connectionId}))`;

/** Deletes the fan-outs of the account or the connection. There are hardly ever any. */
export const removeFanOuts = (db: Database, { accountId, connectionId }: Owner) =>
  change(
    db,
    sql`delete from fan_outs where account_id = ${accountId}
      ${connectionId === null ? sql.empty() : sql`and connection_id = ${connectionId}`}`,
  );

/** Takes what receivers answered from the account's deliveries where it contains an address, given in lower case. */
export const eraseAnswers =
  (email: string): Remover =>
  async (env, { accountId }, cursor) => {
    const db = openDatabase(env);
    const chunk = await nextChunk(db, accountId, cursor);
    if (chunk?.range)
      await change(
        db,
        sql`
        update deliveries set log = (select json_group_array(json_remove(value, '$.answer')) from json_each(log))
        where ${chunk.range} and instr(lower(log), ${email}) > 0`,
      );
    return chunk?.next;
  };

/** Some of the account's deliveries, and the cursor of the rest. No `range` where only others' were passed. */
type Chunk = { range: SQL | undefined; next: string };

/**
 * The account's next deliveries, webhook by webhook: a webhook's all belong to one account, and deleted webhooks have
 * some, too. Undefined once there are none.
 */
async function nextChunk(db: Database, accountId: string, cursor: string): Promise<Chunk | undefined> {
  const [webhookId = '', id = ''] = cursor.split('/');
  if (id !== '') return chunkOf(db, webhookId, id);
  const [found] = await statement<{ own: string | null; last: string | null }>(
    db,
    sql`
    with recursive hooks (id) as (
      select min(webhook_id) from deliveries where webhook_id > ${webhookId}
      union all
      select (select min(webhook_id) from deliveries where webhook_id > hooks.id)
      from hooks where hooks.id is not null limit ${webhooksPerChunk}),
    passed as (
      select id, (select account_id from deliveries where webhook_id = hooks.id limit 1) as account_id
      from hooks where id is not null)
    select (select min(id) from passed where account_id = ${accountId}) as own,
      (select max(id) from passed) as last`,
  );
  if (found?.own) return chunkOf(db, found.own, '');
  return found?.last ? { range: undefined, next: `${found.last}/` } : undefined;
}

async function chunkOf(db: Database, webhookId: string, after: string): Promise<Chunk> {
  const [end] = await statement<{ id: string }>(
    db,
    sql`select id from deliveries where webhook_id = ${webhookId} and id > ${after}
      order by id limit 1 offset ${rowsPerChunk - 1}`,
  );
  const range = sql`webhook_id = ${webhookId} and id > ${after}`;
  return end
    ? { range: sql`${range} and id <= ${end.id}`, next: `${webhookId}/${end.id}` }
    : { range, next: `${webhookId}/` };
}
