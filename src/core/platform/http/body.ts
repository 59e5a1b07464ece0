import * as v from 'valibot';
import { invalid, invalidField, Refusal } from '../errors.ts';
import { parseQuery } from '../fields.ts';
import { endOfJson } from '../json.ts';
import type { Context } from './context.ts';

/** Reads a JSON body, perhaps gzipped. @throws Refusal: not json, not gzip, too large, or invalid */
export async function readJson(c: Context, limitBytes: number): Promise<unknown> {
  refuseParameters(c);
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Refusal({ kind: 'not json' });
  const encoding = c.req.header('content-encoding')?.trim().toLowerCase() || 'identity';
  if (!encodings.includes(encoding)) throw new Refusal({ kind: 'not gzip' });
  const sent = await readBytes(c.req.raw, limitBytes);
  const bytes = encoding === 'identity' ? sent : await gunzip(sent, limitBytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw invalid('Request body is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('Request body is not valid JSON', [
      { field: '', message: `is not JSON at ${placeIn(text)}` },
    ]);
  }
}

/** Where a text stops being JSON, for people. */
function placeIn(text: string): string {
  const lines = text.slice(0, endOfJson(text)).split('\n');
  return `line ${lines.length}, character ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** Refuses parameters: one that is ignored could have been a dry run, or a filter. */
export const refuseParameters = (c: Context) => parseQuery(v.object({}), c.req.query());

/** Reads the body of an operation that has none. @throws Refusal: too large, or invalid when it has properties */
export async function readNothing(c: Context): Promise<void> {
  refuseParameters(c);
  const text = new TextDecoder().decode(await readBytes(c.req.raw, 64 * 1024));
  if (/^\s*(?:\{\s*\}|\[\s*\]|null|"")?\s*$/.test(text)) return;
  throw invalid('Request body must be empty', [{ field: '', message: 'must be empty' }]);
}

/** @throws Refusal: invalid, for a body with another `id` than that of the path, which it may repeat */
export function refuseOther(body: unknown, id: string): void {
  const named = Object(body).id || id;
  if (String(named).toLowerCase() !== id) throw invalidField('id', 'must be that of the path');
}

/** `x-gzip` is another name of gzip (RFC 9110, 8.4.1.3). */
const encodings = ['identity', 'gzip', 'x-gzip'];

/** A byte of gzip can become a thousand: a slice becomes 4 MiB at most. */
const sliceBytes = 4096;

/** @throws Refusal: too large, for more than `limitBytes` of content, or invalid */
async function gunzip(
  bytes: Uint8Array<ArrayBuffer>,
  limitBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  let at = 0;
  const slices = new ReadableStream({
    // After a turn of the event loop, the reader has read what came out.
    async pull(controller) {
      await scheduler.wait(0);
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.subarray(at, at + sliceBytes));
      at += sliceBytes;
    },
  });
  const content = await readUpTo(
    limitBytes,
    slices.pipeThrough(new DecompressionStream('gzip')),
  ).catch(() => {
    throw invalid('Request body is not valid gzip');
  });
  if (!content) throw new Refusal({ kind: 'too large', limitBytes });
  return content;
}

/** Reads a body of at most `limitBytes`, as it was sent. @throws Refusal: too large */
export async function readBytes(
  request: Request,
  limitBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = new Refusal({ kind: 'too large', limitBytes });
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) throw tooLarge;
  const bytes = await readUpTo(limitBytes, request.body);
  if (!bytes) throw tooLarge;
  return bytes;
}

/** Reads a body; undefined if it has more than `limit` bytes. */
async function readUpTo(
  limit: number,
  body: ReadableStream<Uint8Array> | null,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    chunks.push(chunk as Uint8Array<ArrayBuffer>); // as streams of the runtime have them
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
