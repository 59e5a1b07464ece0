import { and, eq, gt, lte, ne, sql, sum } from 'drizzle-orm';
import type { NewEvidence } from '../../core/fleet/lists/field-objects.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { type Budget, isLeft } from '../../core/platform/jobs/budget.ts';
import type { Lease } from '../../core/platform/jobs/lease.ts';
import { maxDayBytes, ofLastDay } from './add.ts';
import { Forbidden, get, partBytes, partsOf, Unreachable } from './download.ts';
import { keyOf } from './evidence.ts';
import { restFrom, spanOf, tagIn, type Version } from './range.ts';
import { evidence } from './tables.ts';
import { isNotReady, typeOf } from './types.ts';

/* Copies one file to the bucket, some parts at a time. */

export const maxFileBytes = 200_000_000;
export const maxAccidentBytes = 1_000_000_000;

/** How often a copy is tried without lasting progress. */
export const maxAttempts = 12;

/** How long a part of a copy may take: an invocation lives 30 s, and begins nothing after ten. */
const callMs = 18_000;

/** A file to be copied. */
export type Claimed = {
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
export type Outcome = 'more' | Failure | { type: string; bytes: number; sha256: string };

type Failure = { failed: string; final?: boolean; restarts?: true };

/** Does some of what is left of a copy. */
export async function copySome(
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
