import { and, eq, ne, notExists, or, type SQL, sql } from 'drizzle-orm';
import { alias, type SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core';
import { noteEvidence } from '../../core/fleet/accidents/write.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import { config } from '../../core/platform/config.ts';
import { type Database, jsonList, transaction } from '../../core/platform/db/database.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs, minuteMs } from '../../core/platform/durations.ts';
import { refusalIn } from '../../core/platform/errors.ts';
import { isLeft, newBudget, within } from '../../core/platform/jobs/budget.ts';
import { type Lease, withLease } from '../../core/platform/jobs/lease.ts';
import { fault } from '../../core/platform/log.ts';
import { send } from '../../core/platform/queue.ts';
import { type Claimed, copySome, maxAttempts, type Outcome } from './copy-file.ts';
import { forget, isKept, keyOf, owners } from './evidence.ts';
import { isSigned, leadToSame } from './link.ts';
import { evidence } from './tables.ts';

/** When a file is given up that fails: links live for a day or two. */
const longestMs = 3 * dayMs;

/** How many lanes an invocation copies from at a time: six connections may wait for a response. */
const lanesAtOnce = 4;

/** Who changes an account's files: one invocation at a time. */
export const leaseOf = (accountId: string) => `evidence ${accountId}`;

/** Asks for copies of an account's files. */
type CopyMessage = { copy: string };

/** SQL for the accounts with files to be copied. */
const accountsDue = (now: number): SQL => sql`(
  with ${owners(sql`next_at is not null`)}
  select a.id from owners cross join accounts a on a.id = owners.id
  cross join evidence_days k on k.account_id = a.id
  where a.status = 'active'
    and exists (select 1 from evidence e where e.account_id = a.id and next_at <= ${now} and ${isKept(now)}))`;

/** SQL for whether anything is to be copied. */
export const copiesAreDue = (now: number): SQL => sql`exists ${accountsDue(now)}`;

/** Starts an invocation for each account with files to copy, so that none waits for another. */
export async function startCopies(env: Env, now = Date.now()): Promise<void> {
  const db = openDatabase(env);
  // The builder knows no `recursive`.
  const select = db.all<{ id: string }>(sql`select id from ${accountsDue(now)}`);
  const due = await transaction(db, select);
  const messages = due.map(({ id }): CopyMessage => ({ copy: id }));
  await send(env.DELIVERIES, messages);
}

/**
 * Copies an account's files, some parts at a time, and asks for another run if there is more. Each lane, of a connection
 * and a server, has one file copied at a time, so that a slow server delays its own.
 */
export async function copyEvidence(
  env: Env,
  accountId: string,
  budget = newBudget(),
): Promise<void> {
  const bucket = bucketOf(env);
  if (!bucket) return;
  const bindings = within(env, budget);
  let isLost = false;
  const done = await withLease(bindings, leaseOf(accountId), async (lease) => {
    const lanes = new Map<string, Promise<void>>();
    const copyNext = async (file: Claimed) => {
      try {
        await record(env, bucket, lease, file, await copySome(env, bucket, lease, file, budget));
      } catch (error) {
        fault('error', 'A job failed', { job: 'evidence', accountId }, error); // it is due again
        isLost ||= refusalIn(error) !== undefined;
      }
      lanes.delete(file.lane);
    };
    while (isLeft(budget) && !isLost) {
      const busy = [...lanes.keys()];
      const file = busy.length < lanesAtOnce ? await claim(lease.db, accountId, busy) : undefined;
      if (file) lanes.set(file.lane, copyNext(file));
      else if (lanes.size > 0) await Promise.race(lanes.values());
      else if (busy.length === 0) break; // otherwise a lane that has just ended may have more
    }
    await Promise.all(lanes.values());
  });
  if (done === 'busy' || isLost || isLeft(budget)) return;
  const again: CopyMessage = { copy: accountId };
  await send(env.DELIVERIES, [again]);
}

/**
 * Takes the next file of a lane that chance chooses, as the archive chooses accounts, but for those in which one is being
 * copied. Should this invocation be killed, it is due again, ever later.
 */
async function claim(
  db: Database,
  accountId: string,
  lanes: string[],
): Promise<Claimed | undefined> {
  const now = Date.now();
  const waiting = sql`evidence where account_id = ${accountId} and next_at is not null`;
  // The builder knows no `recursive`.
  const [file] = await transaction(
    db,
    db.all<Claimed>(sql`
      with recursive lanes (name) as (
        select min(lane) from ${waiting}
        union all
        select (select min(lane) from ${waiting} and lane > lanes.name)
        from lanes where name is not null)
      update evidence
      set attempts = attempts + 1, next_at = ${now} + ${minuteMs} * (1 << min(attempts, 9))
      where id in (
        select id from (
          select (
            select e.id from evidence e
            join accounts a on a.id = e.account_id and a.status = 'active'
            join evidence_days k on k.account_id = a.id and ${isKept(now)}
            where e.account_id = ${accountId} and e.lane = lanes.name and e.next_at <= ${now}
            order by e.next_at limit 1) as id
          from lanes where name not in ${jsonList(lanes)})
        where id is not null order by random() limit 1)
      returning id, account_id as accountId, connection_id as connectionId, accident_id as accidentId, lane, kind,
        source, upload, attempts, created_at as createdAt,
        (select report_url from accidents a where a.id = evidence.accident_id) as reportUrl`),
  );
  return file;
}

async function record(
  env: Env,
  bucket: R2Bucket,
  { db, commit }: Lease,
  file: Claimed,
  outcome: Outcome,
): Promise<void> {
  const { id, accountId, connectionId, accidentId, source, attempts, createdAt, reportUrl } = file;
  const now = Date.now();
  if (outcome === 'more') return;
  const isFailed = 'failed' in outcome;
  const isFinal =
    isFailed && (outcome.final || attempts >= maxAttempts || createdAt < now - longestMs);
  if (isFailed && !isFinal) {
    const failed = { reason: outcome.failed, ...(outcome.restarts && { upload: null }) };
    await commit(db.update(evidence).set(failed).where(eq(evidence.id, id)));
    return;
  }
  const page = `${config(env).origin ?? ''}/portal/accidents/${accidentId}#evidence`;
  const isReport =
    !isFailed && reportUrl !== null && isSigned(source) && leadToSame(reportUrl, source);
  const ended: SQLiteUpdateSetSource<typeof evidence> = isFailed
    ? { state: 'missed', reason: outcome.failed, bytes: null }
    : {
        state: 'stored',
        reason: null,
        source: null,
        contentType: outcome.type,
        bytes: outcome.bytes,
        sha256: outcome.sha256,
      };
  const isNew = isFailed ? undefined : notExists(sameAs(db, outcome.sha256));
  const [done] = await commit(
    db
      .update(evidence)
      .set({ ...ended, upload: null, nextAt: null, endedAt: now })
      .where(and(eq(evidence.id, id), isNew)),
    ...noteEvidence(db, { accountId, connectionId, now }, accidentId, {
      link: isReport ? reportUrl : null,
      page,
    }),
  );
  if (done) return;
  await bucket.delete(keyOf(file));
  await commit(forget(db, sql`(${id})`));
}

/** The files with this content that are there already, under another link, or were and are gone. */
function sameAs(db: Database, sha256: string) {
  const other = alias(evidence, 'other');
  const isSame = and(
    eq(other.accidentId, evidence.accidentId),
    ne(other.id, evidence.id),
    eq(other.kind, evidence.kind),
    eq(other.sha256, sha256),
    or(eq(other.state, 'gone'), sql`${other.camera} is ${evidence.camera}`),
  );
  return db.select({ id: other.id }).from(other).where(isSame);
}
