import type { Next } from 'hono';
import { config } from '../config.ts';
import { Refusal, unavailable } from '../errors.ts';
import { inTime } from '../in-time.ts';
import type { Context } from './context.ts';

/**
 * Where the service has https, pages redirect to it, and calls are refused: one that works in clear is never noticed.
 *
 * @throws Refusal: in clear
 */
export async function onlyHttps(c: Context, next: Next): Promise<Response | undefined> {
  if (c.req.url.startsWith('https:') || !config(c.env).origin?.startsWith('https:'))
    return void (await next());
  const url = new URL(c.req.url);
  if (!['GET', 'HEAD'].includes(c.req.method) || !/^\/portal(?:\/|$)/.test(url.pathname))
    throw new Refusal({ kind: 'in clear' });
  url.protocol = 'https:';
  return c.redirect(url.href, 308);
}

/** How long a caller of the API waits at most, whatever the database does. */
export const longestMs = 10_000;

/** Handles a request for ten seconds at most; its work may go on. @throws Refusal: unavailable */
export async function withinTime(c: Context, next: Next): Promise<void> {
  const work = next();
  await inTime(work, longestMs).catch((cause: unknown) => {
    c.executionCtx.waitUntil(work);
    throw unavailable(cause, 10);
  });
}
