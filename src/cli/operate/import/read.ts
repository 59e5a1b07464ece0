import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { kindNamed, recordKinds } from '../../../core/fleet/lists/registry.ts';
import { isObject } from '../../../core/platform/fields.ts';
import { endOfJson } from '../../../core/platform/json.ts';
import { ApiError } from '../client.ts';
import { type Line, readCsv, type Text } from './csv.ts';

export type Encoding = 'utf-8' | 'windows-1252' | 'utf-16le';

/** Streams the records of an NDJSON or CSV file, by its ending. `kind` is the default kind. */
export async function* readRecords(
  file: string,
  kind?: string,
  encoding: Encoding = 'utf-8',
): AsyncGenerator<Line> {
  const kinds: unknown[] = recordKinds.map((one) => one.kind);
  const meant = kind && String(kindNamed(kind));
  if (meant && !kinds.includes(meant))
    throw new ApiError(`--kind ${kind} must be one of ${kinds.join(', ')}`);
  const lines = linesOf(file, encoding);
  yield* /\.csv$/i.test(file) ? readCsv(lines, meant) : readNdjson(lines, meant);
}

async function* readNdjson(lines: AsyncIterable<Text>, kind?: string): AsyncGenerator<Line> {
  for await (const { text, ...line } of lines) {
    if (line.problem) yield line;
    else if (text.trim() !== '') yield { ...line, ...parsed(text, kind) };
  }
}

function parsed(text: string, kind?: string): Pick<Line, 'record' | 'problem'> {
  try {
    const record: unknown = JSON.parse(text);
    if (!isObject(record) || (!kind && record.kind === undefined)) return { record };
    return { record: { ...record, kind: kindNamed(record.kind ?? kind) } };
  } catch {
    return { problem: `line is not JSON at character ${endOfJson(text) + 1}` };
  }
}

/** The lines of a file, each decoded by itself: one in another encoding spoils no other. */
async function* linesOf(file: string, encoding: Encoding): AsyncGenerator<Text> {
  const isWide = encoding === 'utf-16le';
  const input = createReadStream(file, { encoding: isWide ? 'utf16le' : 'latin1' });
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  let line = 0;
  for await (const read of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const at = { line: ++line, bytesRead: input.bytesRead };
    try {
      const text = isWide ? read : decoder.decode(Buffer.from(read, 'latin1'));
      yield { ...at, text: line === 1 ? text.replace(/^\ufeff/, '') : text };
    } catch {
      yield { ...at, text: '', problem: notUnicode(read) };
    }
  }
}

/** Where a line, as bytes, stops being UTF-8, and what to do. */
function notUnicode(bytes: string): string {
  const at = Buffer.from(bytes, 'latin1').toString().indexOf('\ufffd') + 1;
  const other = /^[\xfe\xff]{2}/.test(bytes) ? 'utf-16le' : 'windows-1252';
  return `character ${at} is not UTF-8: if the whole file is in another encoding, add --encoding ${other}`;
}
