import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { D1Database, R2Bucket } from '@cloudflare/workers-types';
import { parquetMetadata } from 'hyparquet';
import { dayMs } from '../../../core/platform/durations.ts';

type ArchiveFile = { folder: string; day: number; file: string; rows: number; bytes: number };

/** Restores the files of the archive that the database names, and checks them. */
export async function restoreArchive(
  { DB, ARCHIVE }: { DB: D1Database; ARCHIVE: R2Bucket },
  folder: string,
) {
  const problems: string[] = [];
  let [files, restoredRows] = [0, 0];
  const { results } = await DB.prepare(
    `select 'kind=' || kind || '/account=' || account_id || '/connection=' || connection_id as folder, day,
       part.value ->> 'file' as file, part.value ->> 'rows' as rows, part.value ->> 'bytes' as bytes
     from archived_days, json_each(parts) as part`,
  ).all<ArchiveFile>();
  for (const { folder: of, day, file, rows, bytes } of results) {
    const key = `${of}/date=${new Date(day * dayMs).toISOString().slice(0, 10)}/${file}`;
    const path = join(folder, 'archive', key);
    const content = existsSync(path) ? readFileSync(path) : undefined;
    if (content && content.length === bytes && rowsOf(content) === rows) {
      await ARCHIVE.put(key, content);
      restoredRows += rows;
      files++;
    } else problems.push(`${key} is ${content ? 'damaged' : 'missing'}`);
  }
  return { restored: `archive: ${files} files, ${restoredRows} rows`, problems };
}

/** How many rows a Parquet file has, by its metadata; undefined if it is invalid. */
function rowsOf({ buffer, byteOffset, byteLength }: Buffer): number | undefined {
  try {
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer; // of a file
    return Number(parquetMetadata(bytes).num_rows);
  } catch {
    return undefined;
  }
}
