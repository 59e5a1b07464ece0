import { createHash } from 'node:crypto';
import { createReadStream, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Stopped, type Wrangler } from '../project/cloudflare.ts';
import { importFile, type Query } from './import.ts';
import { mustBeFree } from './schema.ts';

/** The size of a part of a dump. D1 imports at most 5 GB at once, and much less is safer. */
const partBytes = 100_000_000;

/** What to know about restoring a dump of so many bytes into D1; undefined if it is small. */
export const sizeWarning = (bytes: number): string | undefined =>
  bytes > 1e9
    ? `the dump has ${(bytes / 1e9).toFixed(1)} GB, so D1 imports it in ${Math.ceil(bytes / partBytes)} parts, which takes ` +
      'long. Restore it into a database of another name once, to know how long.'
    : undefined;

/** D1 escapes new lines in values, so each row of a dump is one line. */
const nextRow = /\n(?=INSERT INTO )/g;
const nextIndex = /\n(?=CREATE (?:UNIQUE )?INDEX )/;

/**
 * Splits a dump of D1 into parts to import one after the other, as latin1 text. In a dump that needs several, each
 * index is a part of its own, since it is built over all rows at once.
 */
export async function* partsOf(dump: string, bytes = partBytes): AsyncGenerator<string> {
  let rest = '';
  let isFirst = true;
  for await (const chunk of createReadStream(dump, { encoding: 'latin1', highWaterMark: bytes })) {
    rest += chunk;
    for (let end = rowAfter(rest, bytes); end > 0; end = rowAfter(rest, bytes)) {
      yield part(rest.slice(0, end));
      rest = rest.slice(end);
      isFirst = false;
    }
  }
  for (const sql of isFirst ? [rest] : rest.split(nextIndex)) yield part(sql);
}

/** Where the first row after so many bytes begins, or 0. */
function rowAfter(text: string, bytes: number): number {
  nextRow.lastIndex = bytes;
  const found = nextRow.exec(text);
  return found ? found.index + 1 : 0;
}

/** A part is a transaction: what its rows refer to must exist at its end. */
const part = (sql: string) => `PRAGMA defer_foreign_keys=TRUE;\n${sql}`;

/** Has a row for each part that has been restored, until all have been. */
const progress = 'restored_parts';

/**
 * Restores a dump into a database without tables, or goes on with one that was interrupted. Reports each part.
 * @throws Stopped
 */
export async function restore(
  wrangler: Wrangler,
  query: Query,
  { database, config, dump }: { database: string; config: string; dump: string },
  report: (line: string) => void,
  parts = partsOf(dump),
): Promise<void> {
  const what = `Restoring ${dump}`;
  const ask = (sql: string) => query(what, sql);
  const [begun] = await ask(`select name from sqlite_master where name = '${progress}'`);
  if (!begun) await mustBeFree(ask, database);
  const restored = begun ? await ask(`select name from ${progress}`) : [];
  const file = join(dirname(config), 'part.sql');
  let number = 0;
  for await (const sql of parts) {
    const name = `${++number} ${createHash('sha256').update(sql).digest('hex')}`;
    if (restored.includes(name)) continue;
    if (restored.length >= number)
      throw new Stopped(
        `The database ${database} has a part of another dump. Continue with that one, ` +
          `or start again: npx wrangler d1 delete ${database}`,
      );
    const note = `create table if not exists ${progress} (name text); insert into ${progress} values ('${name}');`;
    writeFileSync(file, `${sql}\n${note}\n`, { encoding: 'latin1', mode: 0o600 });
    const isImported = async () =>
      (await ask(`select name from sqlite_master where name = '${progress}'`)).length > 0 &&
      (await ask(`select name from ${progress} where name = '${name}'`)).length > 0;
    await importFile(what, wrangler, { database, config, file }, isImported);
    rmSync(file);
    report(`Restored part ${number}`);
  }
  await ask(`drop table ${progress}`);
}
