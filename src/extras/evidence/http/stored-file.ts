import type { Context } from '../../../core/platform/http/context.ts';

type StoredFile = { name: string; contentType: string; bytes: number };

/** Responds with a file that others made, or the one range of it that is asked for, as browsers may show it safely. */
export async function storedFile(
  c: Context,
  { name, contentType, bytes }: StoredFile,
  shown: 'inline' | 'attachment',
  open: (range?: { offset: number; length: number }) => Promise<ReadableStream>,
): Promise<Response> {
  c.header('Content-Type', contentType);
  c.header('Content-Disposition', `${shown}; filename="${name}"`);
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Content-Security-Policy', "sandbox; default-src 'none'");
  c.header('Accept-Ranges', 'bytes');
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(c.req.header('range') ?? '') ?? [];
  if (first === '' && last === '') {
    c.header('Content-Length', String(bytes));
    return c.body(await open(), 200);
  }
  const offset = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  if (offset >= end) {
    c.header('Content-Range', `bytes */${bytes}`);
    return c.body(null, 416);
  }
  c.header('Content-Range', `bytes ${offset}-${end - 1}/${bytes}`);
  c.header('Content-Length', String(end - offset));
  return c.body(await open({ offset, length: end - offset }), 206);
}
