import { type SQL, sql } from 'drizzle-orm';
import { version } from '../../../package.json';
import { config } from '../../platform/config.ts';
import { type Database, read, transaction, write, writeReturning } from '../../platform/db/database.ts';
import { notMoving } from '../../platform/db/guard.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { dayMs, minuteMs } from '../../platform/durations.ts';
import { type Budget, inSteps, isLeft, newBudget, within } from '../../platform/jobs/budget.ts';
import { type Lease, withLease } from '../../platform/jobs/lease.ts';
import { fault } from '../../platform/log.ts';
import { send } from '../../platform/queue.ts';
import { noteEvidence } from '../accidents/write.ts';
import { bucketOf } from '../archive/bucket.ts';
import { isAllowed, isKept, keyOf, type NewEvidence, withoutSignature } from './evidence.ts';
import { typeOf } from './types.ts';

export const maxFileBytes = 200_000_000;
export const maxAccidentBytes = 1_000_000_000;

/** What is held in memory of a file: 5 MiB is the smallest part that R2 takes, but for the last. */
export const partBytes = 5 * 1024 * 1024;

/** When a file is given up that fails: links live for a day or two. */
const longestMs = 3 * dayMs;
const maxAttempts = 12;

const maxRedirects = 3;

/** How long a part of a copy may take: an invocation lives 30 s, and begins nothing after ten. */
const callMs = 18_000;

/** Who changes an account's files: one invocation at a time. */
export const leaseOf = (accountId: string) => `evidence ${accountId}`;

/** Asks for copies of an account's files. */
export type CopyMessage = { copy: string };

/** The accounts with files to be copied, from one to the next by index. */
const accountsDue = (now: number): SQL => sql`
  with recursive owners (id) as (
    select min(account_id) from evidence where next_at is not null
    union all
    select (select min(account_id) from evidence where next_at is not null and account_id > owners.id)
    from owners where owners.id is not null)
  select a.id from owners cross join accounts a on a.id = owners.id
  where a.status = 'active' and a.evidence_days is not null and ${notMoving(sql`a.id`)}
    and exists (select 1 from evidence e where e.account_id = a.id and next_at <= ${now} and ${isKept(now)})`;

/** SQL for whether anything is to be copied. */
export const copiesAreDue = (now: number): SQL => sql`exists (${accountsDue(now)})`;

/** Starts an invocation for each account with files to copy, so that none waits for another. */
export async function startCopies(env: Env, now = Date.now()): Promise<void> {
  const due = await read<{ id: string }>(openDatabase(env))`${accountsDue(now)}`;
  const messages = due.map(({ id }): CopyMessage => ({ copy: id }));
  await send(env.DELIVERIES, messages);
}

/** Copies an account's files, some parts of one after the other, and asks for another run if there is more. */
export async function copyEvidence(env: Env, accountId: string, budget = newBudget()): Promise<void> {
  const bucket = bucketOf(env);
  if (!bucket) return;
  const bindings = within(env, budget);
  const done = await withLease(bindings, leaseOf(accountId), (lease) =>
    inSteps(budget, async () => {
      const file = await claim(lease.db, accountId);
      if (file) await record(env, lease, file, await step(env, bucket, lease, file, budget));
      return file !== undefined;
    }),
  ).catch((error: unknown) => {
    fault('error', 'A job failed', { job: 'evidence', accountId }, error);
    return 'busy'; // what it has claimed is due again
  });
  if (done === 'busy' || isLeft(budget)) return;
  const again: CopyMessage = { copy: accountId };
  await send(env.DELIVERIES, [again]);
}

/** A file to be copied. Of its parts all but the last have `partBytes`, which is there once `bytes` is known. */
type Claimed = {
  id: string;
  accountId: string;
  connectionId: string;
  accidentId: string;
  kind: NewEvidence['kind'];
  source: string;
  upload: string | null;
  attempts: number;
  createdAt: number;
  /** How much of the accident is stored already. */
  stored: number;
};

type Upload = { id: string; type: string; parts: R2UploadedPart[]; bytes?: number };

/** What became of a file: it is to be continued, has failed for now or for good, or is stored. */
type Outcome =
  | 'more'
  | { failed: string; final?: boolean; restarts?: true }
  | { type: string; bytes: number; sha256: string };

/** Takes the next file. Should this invocation be killed, it is due again, ever later. */
async function claim(db: Database, accountId: string): Promise<Claimed | undefined> {
  const now = Date.now();
  const due = sql`
    select e.id from evidence e join accounts a on a.id = e.account_id and a.status = 'active' and ${isKept(now)}
    where e.account_id = ${accountId} and next_at <= ${now} and ${notMoving(sql`e.account_id`)}
    order by next_at limit 1`;
  const [file] = await transaction(
    db,
    writeReturning<Claimed>(db)`
      update evidence set attempts = attempts + 1, next_at = ${now} + ${minuteMs} * (1 << min(attempts, 9))
      where id in (${due})
      returning id, account_id as accountId, connection_id as connectionId, accident_id as accidentId, kind, source,
        upload, attempts, created_at as createdAt, (
          select coalesce(sum(bytes), 0) from evidence o
          where o.accident_id = evidence.accident_id and o.state = 'stored') as stored`,
  );
  return file;
}

/** The server of a file fails, not we. */
class Unreachable extends Error {}

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
    if (!(error instanceof Unreachable)) throw error;
    const isLate = /timeout|timed out|abort/i.test(String(error.cause));
    return { failed: isLate ? 'The server took too long' : 'The server could not be reached' };
  }
}

/** Copies parts until the file or the budget ends. Each is noted: a copy that is interrupted goes on there. */
async function copyParts(
  env: Env,
  bucket: R2Bucket,
  { db, commit }: Lease,
  file: Claimed,
  begun: Upload | null,
  budget: Budget,
): Promise<Outcome> {
  const key = keyOf(file);
  const at = (begun?.parts.length ?? 0) * partBytes;
  const response = await get(env, file.source, at);
  if (typeof response === 'string') return { failed: response, final: true };
  const { ok, status, headers } = response;
  const isEnd = status === 416 && at > 0;
  if (!ok && !isEnd) {
    const final = [401, 403, 410].includes(status);
    await response.body?.cancel();
    return { failed: `The server returned ${status}${final ? ': the link has expired' : ''}`, final };
  }
  // A server without ranges sends everything again: without progress that is noted, it is given up some time.
  const resumes = at === 0 || status !== 200;
  const room = Math.min(maxFileBytes, maxAccidentBytes - file.stored);
  const what = room < maxFileBytes ? 'The accident has more than 1 GB' : 'The file has more than 200 MB';
  const tooLarge = { failed: what, final: true };
  let upload = begun && { ...begun, parts: resumes ? begun.parts : [] };
  let bytes = resumes ? at : 0;
  if (ok && bytes + Number(headers.get('content-length') ?? 0) > room) {
    await response.body?.cancel();
    return tooLarge;
  }
  for await (const part of ok ? partsOf(response.body) : []) {
    const type = upload?.type ?? typeOf(file.kind, part);
    if (!type) return { failed: `The file is no ${file.kind} of a known type`, final: true };
    bytes += part.byteLength;
    if (bytes > room) return tooLarge;
    upload ??= { id: await begin(bucket, key, type), type, parts: [] };
    const target = await bucket.resumeMultipartUpload(key, upload.id);
    upload.parts.push(await target.uploadPart(upload.parts.length + 1, part));
    if (!resumes || part.byteLength < partBytes) continue;
    await commit(progress(db, file, upload));
    if (!isLeft(budget)) return 'more';
  }
  if (!upload) return { failed: 'The file is empty' };
  await commit(progress(db, file, { ...upload, bytes }));
  return 'more';
}

const begin = async (bucket: R2Bucket, key: string, contentType: string): Promise<string> =>
  (await bucket.createMultipartUpload(key, { httpMetadata: { contentType } })).uploadId;

/** Calls the server for the rest of a file, and follows redirects to allowed addresses. Returns why not, if not. */
async function get(env: Env, source: string, at: number): Promise<Response | string> {
  const headers = {
    'User-Agent': `FleetDataService/${version}`,
    'Accept-Encoding': 'identity',
    ...(at > 0 && { Range: `bytes=${at}-` }),
  };
  const signal = AbortSignal.timeout(callMs);
  let url = source;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    if (!isAllowed(env, url)) return 'Its address is not allowed';
    const response = await reaching(fetch(url, { headers, redirect: 'manual', signal }));
    const next = response.status >= 300 && response.status < 400 && response.headers.get('location');
    if (!next) return response;
    await response.body?.cancel();
    url = URL.parse(next, url)?.href ?? '';
  }
  return 'The link redirects too often';
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
  if (!object || object.size !== bytes) return { failed: 'Its copy was incomplete', restarts: true };
  const digest = new crypto.DigestStream('SHA-256');
  await object.body.pipeTo(digest);
  return { type, bytes, sha256: new Uint8Array(await digest.digest).toHex() };
}

const progress = (db: Database, { id }: Claimed, upload: Upload) => write(db)`
  update evidence set upload = ${JSON.stringify(upload)}, attempts = 0, next_at = ${Date.now()} where id = ${id}`;

async function record(env: Env, { db, commit }: Lease, file: Claimed, outcome: Outcome): Promise<void> {
  const { id, accountId, connectionId, accidentId, source, attempts, createdAt } = file;
  const now = Date.now();
  if (outcome === 'more') return;
  const isFailed = 'failed' in outcome;
  const isFinal = isFailed && (outcome.final || attempts >= maxAttempts || createdAt < now - longestMs);
  if (isFailed && !isFinal) {
    const upload = outcome.restarts ? sql`null` : sql`upload`;
    await commit(
      write(db)`update evidence set reason = ${outcome.failed}, upload = ${upload} where id = ${id}`,
    );
    return;
  }
  const address = withoutSignature(source).split('?')[0] ?? null;
  const expires = !isFailed && withoutSignature(source) !== source;
  const page = `${config(env).origin ?? ''}/portal/accidents/${accidentId}#evidence`;
  const ended = isFailed
    ? sql`state = 'missed', reason = ${outcome.failed}`
    : sql`state = 'stored', reason = null, source = null, stored_at = ${now}, content_type = ${outcome.type},
        bytes = ${outcome.bytes}, sha256 = ${outcome.sha256}`;
  await commit(
    write(db)`update evidence set ${ended}, upload = null, next_at = null where id = ${id}`,
    ...noteEvidence(db, { accountId, connectionId, now }, accidentId, {
      address: expires ? address : null,
      page,
    }),
  );
}
