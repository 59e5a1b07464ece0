import { and, eq, gt, lte, ne, notExists, or, type SQL, sql, sum } from 'drizzle-orm';
import { alias, type SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core';
import { version } from '../../../package.json';
import { noteEvidence } from '../../core/fleet/accidents/write.ts';
import type { NewEvidence } from '../../core/fleet/lists/field-objects.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import { config } from '../../core/platform/config.ts';
import { type Database, jsonList, transaction } from '../../core/platform/db/database.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs, minuteMs } from '../../core/platform/durations.ts';
import { refusalIn } from '../../core/platform/errors.ts';
import { type Budget, isLeft, newBudget, within } from '../../core/platform/jobs/budget.ts';
import { type Lease, withLease } from '../../core/platform/jobs/lease.ts';
import { fault } from '../../core/platform/log.ts';
import { send } from '../../core/platform/queue.ts';
import { forget, isAllowed, isKept, keyOf, maxDayBytes, ofLastDay, owners } from './evidence.ts';
import { isSigned, leadToSame } from './link.ts';
import { restFrom, spanOf, tagIn, type Version } from './range.ts';
import { evidence } from './tables.ts';
import { isNotReady, typeOf } from './types.ts';

export const maxFileBytes = 200_000_000;
export const maxAccidentBytes = 1_000_000_000;

/** What is held in memory of a file: 5 MiB is the smallest part that R2 takes, but for the last. */
export const partBytes = 5 * 1024 * 1024;

/** When a file is given up that fails: links live for a day or two. */
const longestMs = 3 * dayMs;
const maxAttempts = 12;

const maxRedirects = 3;

/** How many lanes an invocation copies from at a time: six connections may wait for a response. */
const lanesAtOnce = 4;

/** How long a part of a copy may take: an invocation lives 30 s, and begins nothing after ten. */
const callMs = 18_000;

/** Who changes an account's files: one invocation at a time. */
export const leaseOf = (accountId: string) => `evidence ${accountId}`;

/** Asks for copies of an account's files. */
export type CopyMessage = { copy: string };

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
        await record(env, bucket, lease, file, await step(env, bucket, lease, file, budget));
      } catch (error) {
        fault('error', 'A job failed', { job: 'evidence', accountId }, error); // it is due again
        isLost ||= refusalIn(error) !== undefined;
      }
      lanes.delete(file.lane);
    };
    while (isLeft(budget) && !isLost) {
      const file =
        lanes.size < lanesAtOnce ? await claim(lease.db, accountId, [...lanes.keys()]) : undefined;
      if (file) lanes.set(file.lane, copyNext(file));
      else if (lanes.size > 0) await Promise.race(lanes.values());
      else break;
    }
    await Promise.all(lanes.values());
  });
  if (done === 'busy' || isLost || isLeft(budget)) return;
  const again: CopyMessage = { copy: accountId };
  await send(env.DELIVERIES, [again]);
}

/** A file to be copied. */
type Claimed = {
  id: string;
  accountId: string;
  connectionId: string;
  accidentId: string;
  lane: string;
  kind: NewEvidence['kind'];
  source: string;
  upload: string | null;
  attempts: number;
  createdAt: number;
  /** That of its accident. */
  reportUrl: string | null;
};

/** How far a copy has come. Its parts all have `partBytes`, but for the last one. */
type Upload = Version & {
  id: string;
  type: string;
  parts: R2UploadedPart[];
  /** Whether the server sent what does not continue the parts: it is then asked for the whole file at once. */
  isWhole: boolean;
  /** Once all parts are there. */
  bytes?: number;
};

/** What became of a file: it is to be continued, has failed for now or for good, or is stored. */
type Outcome = 'more' | Failure | { type: string; bytes: number; sha256: string };

type Failure = { failed: string; final?: boolean; restarts?: true };

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

/** The fault is the server's that has the file, not ours. */
class Unreachable extends Error {}

/** A link leads to where we call nobody. */
class Forbidden extends Error {}

const reaching = <T>(work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    throw new Unreachable('', { cause });
  });

async function step(
  env: Env,
  bucket: R2Bucket,
  lease: Lease,
  file: Claimed,
  budget: Budget,
): Promise<Outcome> {
  if (file.attempts > maxAttempts) return { failed: 'It could not be copied', final: true };
  const upload: Upload | null = file.upload === null ? null : JSON.parse(file.upload);
  try {
    if (upload?.bytes !== undefined) return await complete(bucket, file, upload);
    return await copyParts(env, bucket, lease, file, upload, budget);
  } catch (error) {
    if (error instanceof Forbidden) return { failed: error.message, final: true };
    if (!(error instanceof Unreachable)) throw error;
    const isLate = /timeout|timed out|abort/i.test(String(error.cause));
    return { failed: isLate ? 'The server took too long' : 'The server could not be reached' };
  }
}

/** Copies parts until the file or the budget ends. Each is noted: a copy that is interrupted goes on there. */
async function copyParts(
  env: Env,
  bucket: R2Bucket,
  lease: Lease,
  file: Claimed,
  begun: Upload | null,
  budget: Budget,
): Promise<Outcome> {
  const key = keyOf(file);
  const known = begun?.isWhole ? null : begun;
  const at = (known?.parts.length ?? 0) * partBytes;
  const signal = AbortSignal.timeout(callMs);
  let response = await get(env, file.source, signal, known ? restFrom(at, known) : {});
  let span = spanOf(response, at, known ?? nothing);
  if (known && !span && [206, 416].includes(response.status)) {
    await response.body?.cancel();
    response = await get(env, file.source, signal);
    span = spanOf(response, 0, nothing);
  }
  const { status, headers } = response;
  if (!span) {
    const final = [401, 403, 410].includes(status);
    await response.body?.cancel();
    return {
      failed: `The server returned ${status}${final ? ': the link has expired' : ''}`,
      final,
    };
  }
  const { from, end, total } = span;
  const tooMuch = total === null ? undefined : await reserve(lease, file, total);
  if (tooMuch) {
    await response.body?.cancel();
    return tooMuch;
  }
  const isWhole = begun !== null && from === 0;
  let upload = from > 0 && known ? { ...known, total } : undefined;
  let bytes = from;
  for await (const part of status === 416 ? [] : partsOf(response.body)) {
    if (!upload && isNotReady(part)) return { failed: 'The file is not ready' };
    const type = upload?.type ?? typeOf(file.kind, part);
    if (!type) return { failed: `The file is no ${file.kind} of a known type`, final: true };
    bytes += part.byteLength;
    if (bytes > (end ?? bytes)) return { failed: 'The server sent more than it announced' };
    const tooMuch = total === null ? await reserve(lease, file, bytes) : undefined;
    if (tooMuch) return tooMuch;
    if (!upload) {
      upload = {
        id: await begin(bucket, key, type),
        type,
        parts: [],
        isWhole,
        total,
        tag: tagIn(headers),
      };
      if (begun) await lease.commit(progress(lease.db, file, upload));
      if (begun) await abort(bucket, key, begun.id);
    }
    const target = await bucket.resumeMultipartUpload(key, upload.id);
    upload.parts.push(await target.uploadPart(upload.parts.length + 1, part));
    if (bytes === total) break;
    if (part.byteLength < partBytes) continue;
    await lease.commit(progress(lease.db, file, upload));
    if (!isWhole && !isLeft(budget)) return 'more';
  }
  if (!upload) return { failed: 'The file is empty' };
  if (bytes !== (total ?? bytes)) return { failed: 'The connection ended early' };
  await lease.commit(progress(lease.db, file, { ...upload, bytes }));
  return 'more';
}

const nothing: Version = { tag: null, total: null };

/** Reserves so much for a file before it is copied, since others are copied at the same time. Returns why not, if not. */
async function reserve(
  { db, commit }: Lease,
  file: Claimed,
  bytes: number,
): Promise<Failure | undefined> {
  if (bytes > maxFileBytes) return { failed: 'The file has more than 200 MB', final: true };
  const { id, accountId, accidentId } = file;
  const total = { bytes: sql<number>`coalesce(${sum(evidence.bytes)}, 0)`.as('bytes') };
  const others = db
    .select(total)
    .from(evidence)
    .where(and(eq(evidence.accidentId, accidentId), ne(evidence.id, id)));
  const ofDay = db.select(total).from(evidence).where(ofLastDay(accountId, Date.now()));
  const fits = lte(sql`${bytes} + ${others}`, maxAccidentBytes);
  const [reserved, isOver] = await commit(
    db
      .update(evidence)
      .set({ bytes })
      .where(and(eq(evidence.id, id), fits)),
    db
      .update(evidence)
      .set({ bytes: null })
      .where(and(eq(evidence.id, id), gt(sql`${ofDay}`, maxDayBytes))),
  );
  if (!reserved) return { failed: 'The accident has more than 1 GB', final: true };
  return isOver ? { failed: 'The account has more than 50 GB today' } : undefined;
}

/** Ends an upload. One that is unknown is none, and R2 deletes what is left of others after a week. */
export const abort = async (bucket: R2Bucket, key: string, id: string): Promise<void> => {
  const upload = await bucket.resumeMultipartUpload(key, id);
  await upload.abort().catch(() => {});
};

const begin = async (bucket: R2Bucket, key: string, contentType: string): Promise<string> =>
  (await bucket.createMultipartUpload(key, { httpMetadata: { contentType } })).uploadId;

/** Calls the server of a file, and follows redirects to allowed addresses. @throws Forbidden */
async function get(
  env: Env,
  source: string,
  signal: AbortSignal,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers = {
    'User-Agent': `FleetDataService/${version}`,
    'Accept-Encoding': 'identity',
    ...more,
  };
  let url = source;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    if (!isAllowed(env, url)) throw new Forbidden('Its address is not allowed');
    const response = await reaching(fetch(url, { headers, redirect: 'manual', signal }));
    const next =
      response.status >= 300 && response.status < 400 && response.headers.get('location');
    if (!next) return response;
    await response.body?.cancel();
    url = URL.parse(next, url)?.href ?? '';
  }
  throw new Forbidden('The link redirects too often');
}

/** Cuts a stream into parts, of which the next overwrites the one before. */
async function* partsOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const part = new Uint8Array(partBytes);
  const reader = body.getReader();
  let filled = 0;
  try {
    for (;;) {
      const { value: chunk } = await reaching(reader.read());
      if (!chunk) break;
      for (let from = 0; from < chunk.byteLength; ) {
        const some = chunk.subarray(from, from + partBytes - filled);
        part.set(some, filled);
        [from, filled] = [from + some.byteLength, filled + some.byteLength];
        if (filled < partBytes) continue;
        yield part;
        filled = 0;
      }
    }
    if (filled > 0) yield part.subarray(0, filled);
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Puts the parts together, and computes the checksum of what lies in the bucket then. */
async function complete(
  bucket: R2Bucket,
  file: Claimed,
  { id, type, parts, bytes }: Upload,
): Promise<Outcome> {
  const key = keyOf(file);
  const target = await bucket.resumeMultipartUpload(key, id);
  await target.complete(parts).catch(() => {}); // it was, if the invocation that did so was killed
  const object = await bucket.get(key);
  if (!object || object.size !== bytes)
    return { failed: 'Its copy was incomplete', restarts: true };
  const digest = new crypto.DigestStream('SHA-256');
  await object.body.pipeTo(digest);
  return { type, bytes, sha256: new Uint8Array(await digest.digest).toHex() };
}

/** Notes how far a copy is. One that makes no lasting progress is due again ever later, until it is given up. */
function progress(db: Database, { id }: Claimed, upload: Upload) {
  const isLasting = !upload.isWhole || upload.bytes !== undefined;
  return db
    .update(evidence)
    .set({
      upload: JSON.stringify(upload),
      ...(isLasting && { attempts: 0, nextAt: Date.now() }),
    })
    .where(eq(evidence.id, id));
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
