import type { FileMetaData } from 'hyparquet';
import type { Position } from '../../platform/db/cursor.ts';
import { Refusal } from '../../platform/errors.ts';
import { described, fault } from '../../platform/log.ts';
import { dateOf } from './day.ts';
import { type Bytes, decodeFooter } from './parquet.ts';

/** The bucket of the archive, if this deployment has one. */
export const bucketOf = (env: { ARCHIVE?: R2Bucket }): R2Bucket | undefined => env.ARCHIVE;

/** A day of a connection: one folder of the archive. */
export type DayOf = { kind: string; accountId: string; connectionId: string; day: number };

/** A file of a day: some thousands of its rows, in order. Files never change; a new one replaces an old one. */
export type Part = {
  file: string;
  rows: number;
  /** The sizes of the file and of its footer, in bytes. */
  bytes: number;
  footer: number;
  first: Position;
  last: Position;
};

/** A file in the catalog cannot be read: the bucket fails, or the file is damaged. Its key names no person. */
export class Unreadable extends Error {
  readonly key: string;
  constructor(key: string, cause?: unknown) {
    super(`${key} cannot be read`, { cause });
    this.key = key;
  }
}

/** A file that was replaced, or is lost. */
export class PartGone extends Unreadable {}

/** The error for a reader: 503 for a file that cannot be read, which is logged; otherwise the error itself. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof Unreadable)) return error;
  fault('error', { message: 'A file of the archive cannot be read', key: error.key, ...described(error) });
  return new Refusal({ kind: 'unavailable', retryAfter: 60 });
}

/** Gets a file, or a range of it. @throws PartGone, Unreadable */
export async function readFile(
  bucket: R2Bucket,
  key: string,
  range?: { offset: number; length: number },
): Promise<ArrayBuffer> {
  const object = await unlessUnreadable(key, bucket.get(key, range && { range }));
  if (!object) throw new PartGone(key);
  return unlessUnreadable(key, object.arrayBuffer());
}

/** Wraps any error of reading or decoding a file. @throws Unreadable */
export const unlessUnreadable = <T>(key: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof Unreadable ? error : new Unreadable(key, error);
  });

/** The folder of an account's or connection's archive, or of one day; a warehouse reads its parts as columns. */
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

/** Files up to this size (bytes) are read whole, in one read instead of two. */
const smallFile = 128 * 1024;

/** The footers of recently read files, which save a read. */
const footers = new Map<string, FileMetaData>();
const maxFooters = 16;

export type Reads = { count: number };

/**
 * Opens a file of the archive. Only what is requested is read, unless the file is small or `whole` is set. @throws
 * PartGone, Unreadable
 */
export function openPart(bucket: R2Bucket, day: DayOf, part: Part, reads: Reads, whole = false) {
  const key = folderOf(day) + part.file;
  const read = (range?: { offset: number; length: number }): Promise<ArrayBuffer> => {
    reads.count += 1;
    return readFile(bucket, key, range);
  };
  const inOneRead = whole || part.bytes <= smallFile;
  let all: Promise<ArrayBuffer> | undefined;
  const readAll = () => {
    all ??= read();
    return all;
  };
  return {
    key,
    metadata: async (): Promise<FileMetaData> => {
      const known = footers.get(key);
      if (known) return known;
      const { bytes, footer } = part;
      const last = inOneRead ? await readAll() : await read({ offset: bytes - footer, length: footer });
      const fresh = decodeFooter(last);
      footers.set(key, fresh);
      for (const oldest of footers.keys()) if (footers.size > maxFooters) footers.delete(oldest);
      return fresh;
    },
    bytes: async (start: number, end: number): Promise<Bytes> =>
      inOneRead
        ? { offset: 0, buffer: await readAll() }
        : { offset: start, buffer: await read({ offset: start, length: end - start }) },
  };
}
