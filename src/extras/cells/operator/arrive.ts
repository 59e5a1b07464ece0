import { and, eq, exists, ne, notExists, sql } from 'drizzle-orm';
import { awaitFrom, operatorIn, setAccount } from '../../../core/accounts/accounts.ts';
import { audit } from '../../../core/accounts/audit/write.ts';
import { bucketOf } from '../../../core/platform/bucket.ts';
import { config } from '../../../core/platform/config.ts';
import {
  breaksUnique,
  refuseUnless,
  type Statement,
  type Statements,
  transaction,
} from '../../../core/platform/db/database.ts';
import { accounts } from '../../../core/platform/db/schema/accounts.ts';
import { deletions } from '../../../core/platform/db/schema/jobs.ts';
import { openDatabase } from '../../../core/platform/db/system.ts';
import { type Failure, invalid, Refusal } from '../../../core/platform/errors.ts';
import { forgetTimers } from '../../../core/webhooks/deliveries/receiver/store.ts';
import { resumeWebhooks } from '../../../core/webhooks/remove.ts';
import { declared } from '../../../extras.ts';
import { countRows, fromArrays, jsonArrays, list, raw } from '../../../operator/deletion/rows.ts';
import { removeCopy } from '../../../operator/deletion/run.ts';
import { tables } from '../../../operator/deletion/tables.ts';
import { moves } from '../tables.ts';
import { alike, decodePart, type Offer, type Part, type Rows } from './part.ts';

/**
 * Does a part of a move, which may be repeated or late.
 * @throws Refusal: invalid, why the account cannot live here; unavailable
 */
export async function accept(env: Env, header: string, request: Request): Promise<void> {
  const part = decodePart(header);
  const { from, now, file } = part;
  const { id, accountId, state } = now;
  if (state === 'none') return begin(env, part, await request.json());
  const db = openDatabase(env);
  const thisMove = and(
    eq(moves.accountId, accountId),
    eq(moves.state, 'arriving'),
    sql`${moves.move}->>'id' = ${id}`,
  );
  const awaited = db.select().from(moves).where(thisMove);
  const account = db.select().from(accounts).where(eq(accounts.id, accountId));
  const found = await transaction(db, { awaited, account });
  const failure: Failure = { kind: 'unavailable', retryAfter: 10 };
  if (!found.awaited[0]) {
    const [lives] = found.account.map(({ cell }) => cell !== from);
    if (state === 'cancelling' || (state === 'switching' && lives)) return; // done before
    if (state === 'switching' && lives === false)
      throw invalid('The copy was deleted. Begin again.');
    throw new Refusal(failure);
  }
  const unlessOver = refuseUnless(db, exists(awaited), failure);
  const end = [unlessOver, db.delete(moves).where(thisMove)];
  if (state === 'cancelling') await transaction(db, [end, removeCopy(db, accountId)]);
  else if (state === 'switching') await activate(env, accountId, end, await request.json());
  else if (!file) await copy(env, part, unlessOver, await request.json());
  else await bucketOf(env)?.put(file.key, request.body, file.md5 ? { md5: file.md5 } : {});
}

/** Awaits the account, if it can live here. */
async function begin(env: Env, { from, now }: Part, offer: Offer): Promise<void> {
  const { cell } = config(env);
  const { accountId, id } = now;
  if (String(offer.alike) !== String(await alike(env))) throw unlike(from, cell);
  if (offer.hasBucket && !bucketOf(env))
    throw invalid(
      `${from} has a bucket for archives, and ${cell} has no bucket. Give it one, and deploy.`,
    );
  for (const { column, findTaken, problem } of declared('unique')) {
    const taken = await findTaken(env, accountId, offer.unique[column] ?? []);
    if (taken) throw invalid(problem(cell, taken));
  }
  const db = openDatabase(env);
  const living = and(eq(accounts.id, accountId), ne(accounts.status, 'moved'));
  const deleted = eq(deletions.accountId, accountId);
  const row = { state: 'arriving', move: JSON.stringify({ id }) };
  await transaction(db, [
    refuseUnless(
      db,
      and(
        notExists(db.select().from(accounts).where(living)),
        notExists(db.select().from(deletions).where(deleted)),
      ),
      `${cell} has this account, or is still deleting what it had of it. Try again in some minutes.`,
    ),
    awaitFrom(db, offer.account, from),
    db
      .insert(moves)
      .values({ accountId, ...row })
      .onConflictDoUpdate({ target: moves.accountId, set: row }),
  ]);
}

const unlike = (from: string, cell: string) =>
  invalid(`${from} and ${cell} differ in version or ENCRYPTION_KEYS. Deploy both alike.`);

async function copy(
  env: Env,
  { from, now }: Part,
  unlessOver: Statement,
  { table: name, rows }: Rows,
): Promise<void> {
  const { cell } = config(env);
  const table = tables.find((one) => one.name === name);
  const columns = Object.keys(rows[0] ?? {});
  if (!table || !columns.every((column) => table.columns.includes(column)))
    throw unlike(from, cell);
  const { key } = table;
  const db = openDatabase(env);
  const also = declared('move').map(({ copied }) => copied?.(db, now.accountId, name));
  // Not the key: to what refers to it, that would count as a new one.
  const others = columns.filter((column) => !key.includes(column));
  const set = others.map((column) => `${column} = excluded.${column}`).join(', ');
  const update = raw(set === '' ? 'do nothing' : `do update set ${set}`);
  // The table is known only at run time.
  const upsert = (json: string) =>
    db.run(sql`
      insert into ${raw(name)} (${list(columns)})
      select * from ${fromArrays(columns.length, json)} where true
      on conflict (${list(key)}) ${update}`);
  const upserts = jsonArrays(rows.map((row) => Object.values(row))).map(upsert);
  await transaction(db, [unlessOver, also, upserts]).catch((error: unknown) => {
    // Another account may have it since this cell was asked.
    const taken = declared('unique').find(({ column }) => breaksUnique(error, column));
    if (!taken) throw error;
    const values = rows.map((row) => row[taken.column.replace(`${name}.`, '')]);
    throw invalid(taken.problem(cell, values.join(', ')));
  });
}

/** Activates the account if its copy is complete. Deletes it otherwise, so that no other call may. */
async function activate(
  env: Env,
  id: string,
  end: Statements,
  { account, counts }: Offer,
): Promise<void> {
  const db = openDatabase(env);
  const own = await countRows(env, id);
  const differs = Object.keys(own).find((table) => own[table] !== counts[table]);
  if (differs) {
    await transaction(db, [end, removeCopy(db, id)]);
    throw invalid(`The copy of ${differs} differs. Begin again.`);
  }
  const { name, units, quotas } = account;
  await transaction(db, [
    end,
    setAccount(db, id, { status: 'active', cell: null, name, units, quotas }),
    audit(db, operatorIn(id), 'changed', 'accounts', id, ['cell']),
    // The wake-up messages for these times are in the other cell's queue.
    forgetTimers(db, id),
    declared('move').map(({ arrived }) => arrived?.(db, id)),
    resumeWebhooks(db, id),
  ]);
}
