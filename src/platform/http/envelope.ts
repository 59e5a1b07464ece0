import { newId } from '../db/ids.ts';
import type { Context } from './context.ts';

/** The version of the API, sent as `API-Version` with each response. A breaking change needs a new one. */
export const apiVersion = '2026-11-26';

/** Gives a request its id, and its response the headers of everything that we respond. */
export function identify(c: Context): void {
  c.set('requestId', newId());
  c.header('X-Request-Id', c.get('requestId'));
  c.header('API-Version', apiVersion);
  c.header('Cache-Control', 'no-store');
}

/** Responds 200 with the envelope of success; `next` is present only when there is another page. */
export const ok = (c: Context, message: string, data: unknown, next?: string, more: object = {}) =>
  c.json({ status: 200, message, data, ...(next && { next }), ...more });

/** A response of bytes, which `written` writes behind it. */
export function file(
  c: Context,
  {
    headers,
    readable,
    written,
  }: { headers: Record<string, string>; readable: ReadableStream; written: Promise<void> },
): Response {
  c.executionCtx.waitUntil(written);
  return c.body(readable, 200, headers);
}
