import type { ArchiveKind } from '../../core/fleet/lists/list.ts';
import { config } from '../../core/platform/config.ts';
import { dayMs, hourMs } from '../../core/platform/durations.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { fault } from '../../core/platform/log.ts';
import type { ArchivedFile } from './tables.ts';

/** A day of a connection: one folder of the archive. */
export type DayOf = { kind: string; accountId: string; connectionId: string; day: number };

/** A file of a day. */
export type Part = ArchivedFile;

export type Folder = { bucket: R2Bucket; kind: ArchiveKind; day: DayOf };

/** The folder of an account, connection or day; a warehouse reads its parts as columns. */
export const folderOf = ({
  kind,
  accountId,
  connectionId,
  day,
}: Pick<DayOf, 'kind' | 'accountId'> & Partial<DayOf>): string =>
  [
    `kind=${kind}`,
    `account=${accountId}`,
    ...(connectionId ? [`connection=${connectionId}`] : []),
    ...(day === undefined ? [] : [`date=${dateOf(day)}`]),
    '',
  ].join('/');

/** A file cannot be read: the bucket fails, or it is damaged. Its key names no person. */
export class Unreadable extends Error {
  readonly key: string;
  constructor(key: string, cause?: unknown) {
    super(`${key} cannot be read`, { cause });
    this.key = key;
  }
}

/** A file that was replaced, or is lost. */
export class PartGone extends Unreadable {}

/** Gets a file. @throws PartGone, Unreadable */
export async function readFile(bucket: R2Bucket, key: string): Promise<ArrayBuffer> {
  const object = await unlessUnreadable(key, () => bucket.get(key));
  if (!object) throw new PartGone(key);
  return unlessUnreadable(key, () => object.arrayBuffer());
}

/** Wraps any error of reading or decoding a file. @throws Unreadable */
export async function unlessUnreadable<T>(key: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(key, error);
  }
}

/** Reads again while `again`, or three times: files are replaced. @throws Refusal: unavailable */
export async function readAgain<T>(read: () => Promise<T>, again = () => false): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (error instanceof PartGone && (again() || tries < 3)) continue;
      if (!(error instanceof Unreadable)) throw error;
      const { key } = error;
      fault('error', 'A file of the archive cannot be read', { key }, error);
      throw new Refusal({ kind: 'unavailable', retryAfter: 60 });
    }
  }
}

/** How long after its records have become old a day is archived, because clocks differ. */
const graceMs = hourMs;

/** The UTC day of a time, in days since 1970. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** `2026-05-01` for a day. */
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** When hot data begins (milliseconds since 1970), with a UTC day; -Infinity without an archive. */
function hotSince(env: Env, now = Date.now()): number {
  const { hotDays } = config(env);
  return env.ARCHIVE && hotDays > 0 ? dayOf(now - hotDays * dayMs) * dayMs : -Infinity;
}

/** The first day that stays in D1. */
export const firstHotDay = (env: Env, now = Date.now()): number =>
  dayOf(hotSince(env, now - graceMs));
