import { readUpTo } from '../body.ts';
import { invalid, Refusal } from '../errors.ts';
import type { Context } from './context.ts';

/**
 * Reads a JSON body of at most `limitBytes`.
 *
 * @throws Refusal: not json, too large, or invalid when it is not UTF-8 or not JSON
 */
export async function readJson(c: Context, limitBytes: number): Promise<unknown> {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Refusal({ kind: 'not json' });
  const bytes = await readBytes(c.req.raw, limitBytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw invalid('Request body is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('Request body is not valid JSON');
  }
}

/** Reads a body of at most `limitBytes`. @throws Refusal: too large */
export async function readBytes(request: Request, limitBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = new Refusal({ kind: 'too large', limitBytes });
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) throw tooLarge;
  const bytes = await readUpTo(limitBytes, request.body);
  if (!bytes) throw tooLarge;
  read.set(request, bytes);
  return bytes;
}

const read = new WeakMap<Request, Uint8Array<ArrayBuffer>>();

/** The request again, as if its body had not been read. */
export function afresh(request: Request): Request {
  const { method, headers, body } = request;
  return new Request(request.url, { method, headers, body: read.get(request) ?? body });
}
