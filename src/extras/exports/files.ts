import type { Columns } from '../../core/fleet/lists/field.ts';
import { csvWriter } from '../../texts/csv.ts';
import { readFile } from '../archive/bucket.ts';
import { parquetWriter } from '../archive/parquet.ts';
import type { ExportFile } from './tables.ts';

export const formatNames = ['csv', 'parquet'] as const;
type ExportFormat = (typeof formatNames)[number];

/** The folder of an account's exports, or of one of them. */
export const exportFolder = (accountId: string, id?: string): string =>
  `exports/account=${accountId}/${id ? `${id}/` : ''}`;

const keyOf = (folder: string, { name }: ExportFile, piece: number | 'footer') =>
  `${folder}${name}/${piece}`;

/** Writes the next records of a file, or its `last`. Returns the file as it is then. */
export async function writePiece(
  bucket: R2Bucket,
  folder: string,
  file: ExportFile,
  { format, columns, order }: { format: ExportFormat; columns: Columns; order: string },
  items: object[],
  last: boolean,
): Promise<ExportFile> {
  const { pieces, bytes } = file;
  const footerKey = keyOf(folder, file, 'footer');
  const begun = async () => ({ bytes, groups: pieces, footer: await readFile(bucket, footerKey) });
  const writer =
    format === 'csv'
      ? csvWriter(columns, { begun: pieces > 0 })
      : parquetWriter(columns, order, pieces > 0 ? await begun() : undefined);
  const parts = [...(items.length > 0 ? [writer.add(items)] : []), ...(last ? [writer.end()] : [])];
  const piece = new Blob(parts);
  if (piece.size === 0) return file;
  await bucket.put(keyOf(folder, file, pieces), piece);
  if (!last && format === 'parquet') await bucket.put(footerKey, writer.end());
  return {
    ...file,
    records: file.records + items.length,
    bytes: bytes + piece.size,
    pieces: pieces + 1,
  };
}

/** Streams a file, and returns what has to go on behind the response. A missing piece ends it. */
export function streamFile(bucket: R2Bucket, folder: string, file: ExportFile) {
  const { readable, writable } = new FixedLengthStream(file.bytes);
  const work = async () => {
    for (let piece = 0; piece < file.pieces; piece++) {
      const object = await bucket.get(keyOf(folder, file, piece));
      if (!object) throw new Error('A piece of an export is missing');
      await object.body.pipeTo(writable, { preventClose: true });
    }
    await writable.close();
  };
  // Whoever stops to read it is no failure of ours.
  return {
    readable,
    written: work().catch((error: unknown) => writable.abort(error).catch(() => {})),
  };
}

/** Deletes some of what lies in a folder. Returns whether nothing is left. */
export async function emptyFolder(bucket: R2Bucket, folder: string): Promise<boolean> {
  const { objects, truncated } = await bucket.list({ prefix: folder });
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
  return !truncated;
}
