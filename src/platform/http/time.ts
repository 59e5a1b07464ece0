import type { Next } from 'hono';
import { Refusal } from '../errors.ts';
import { inTime } from '../homes/each.ts';
import type { Context } from './context.ts';

/** How long a caller of the API waits, whatever the database does. */
export const longestMs = 10_000;

/**
 * Goes on with a request, for ten seconds at most. What it does then may still come to an end behind the reply.
 *
 * @throws Refusal: unavailable, when that has not been enough
 */
export async function withinTime(c: Context, next: Next): Promise<void> {
  const work = next();
  await inTime(work, longestMs).catch((cause: unknown) => {
    c.executionCtx.waitUntil(work);
    throw Object.assign(new Refusal({ kind: 'unavailable', retryAfter: 10 }), { cause });
  });
}
