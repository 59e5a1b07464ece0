import type { Next } from 'hono';
import { Refusal } from '../errors.ts';
import { inTime } from '../in-time.ts';
import type { Context } from './context.ts';

/** How long a caller of the API waits at most, whatever the database does. */
export const longestMs = 10_000;

/** Handles a request for ten seconds at most; its work may go on. @throws Refusal: unavailable */
export async function withinTime(c: Context, next: Next): Promise<void> {
  const work = next();
  await inTime(work, longestMs).catch((cause: unknown) => {
    c.executionCtx.waitUntil(work);
    throw Object.assign(new Refusal({ kind: 'unavailable', retryAfter: 10 }), { cause });
  });
}
