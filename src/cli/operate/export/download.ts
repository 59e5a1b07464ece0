import { existsSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { ApiError, insist, type Operator, type Page } from '../client.ts';

/** What to export: one kind of records of an account, in a time range if its list has one. */
export type Wanted = { account: string; kind: string; from: string; to: string };

/**
 * The progress of a download: the connection by its id, because connections come and go; where in its list, or null at
 * its end; and the file's size.
 */
type Mark = { wanted: Wanted; connection: string; cursor?: string | null; rows: number; bytes: number };

const perPage = 500;
const maxTries = 6;

/**
 * Downloads all records to `file`, one JSON line each, connection by connection. After each page `file.json` has the
 * progress, from which the same call resumes. Returns how many there are.
 *
 * @throws ApiError
 */
export async function download(
  operator: Operator,
  wanted: Wanted,
  file: string,
  onProgress: (rows: number, connection: number, connections: number) => void,
): Promise<number> {
  const connections = await operator.call('GET /accounts/:id/connections', { id: wanted.account });
  if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600 });
  let mark = markIn(`${file}.json`, wanted, statSync(file).size);
  truncateSync(file, mark.bytes); // what was written after the mark is repeated
  const lines = await open(file, 'a');
  try {
    for (const [at, { id }] of connections.entries()) {
      if (id < mark.connection) continue; // ids are in the order of the list
      let cursor = id === mark.connection ? mark.cursor : undefined;
      while (cursor !== null) {
        const { data, next = null } = await page(operator, id, wanted, cursor);
        const text = data.map((item) => `${JSON.stringify(item)}\n`).join('');
        await lines.appendFile(text);
        const written = { rows: mark.rows + data.length, bytes: mark.bytes + Buffer.byteLength(text) };
        mark = { wanted, connection: id, cursor: next, ...written };
        keep(`${file}.json`, mark);
        onProgress(mark.rows, next ? at : at + 1, connections.length);
        cursor = next;
      }
    }
  } finally {
    await lines.close();
  }
  return mark.rows;
}

/** Removes a download once its file was used. */
export const forgetDownload = (file: string): void => {
  for (const left of [file, `${file}.json`]) rmSync(left, { force: true });
};

function markIn(file: string, wanted: Wanted, size: number): Mark {
  const none = { wanted, connection: '', rows: 0, bytes: 0 };
  if (!existsSync(file)) return none;
  const mark: Mark = JSON.parse(readFileSync(file, 'utf8')); // what `keep` has written
  if (JSON.stringify(mark.wanted) !== JSON.stringify(wanted))
    throw new ApiError(`${file} is of another export. Delete it, or give another --output`);
  return size < mark.bytes ? none : mark; // its records may have been deleted
}

/** Never half written: a rename replaces the file as a whole. */
function keep(file: string, mark: Mark): void {
  writeFileSync(`${file}.new`, JSON.stringify(mark), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

const page = (
  operator: Operator,
  connection: string,
  { kind, from, to }: Wanted,
  cursor: string | undefined,
): Promise<Page<unknown>> =>
  insist(maxTries, () => {
    const query = { kind, from, to, limit: String(perPage), cursor };
    return operator.page('GET /connections/:id/records', { id: connection, query });
  });
