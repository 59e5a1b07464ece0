import { createMiddleware } from 'hono/factory';
import { config } from '../platform/config.ts';
import { Refusal } from '../platform/errors.ts';
import type { App } from '../platform/http/context.ts';
import { limitByAddress } from '../platform/http/limits.ts';

/**
 * Admits whoever sends the secret OPERATOR_KEY as `Authorization: Bearer`.
 *
 * @throws Refusal: unauthenticated, rate limited
 */
export const authenticateOperator = createMiddleware<App>(async (c, next) => {
  const key = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
  if (!(await isSameSecret(key, config(c.env).operatorKey))) {
    await limitByAddress(c, 'OPERATOR_LIMIT');
    throw new Refusal({ kind: 'unauthenticated', scheme: 'Bearer' });
  }
  await next();
});

/**
 * Compares digests in constant time, so that the time it takes reveals nothing of the secret. Hono's
 * `timingSafeEqual` also walks the secrets themselves in JavaScript, which takes longer from the secret's length on.
 */
async function isSameSecret(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return crypto.subtle.timingSafeEqual(...(await Promise.all([digest(a), digest(b)])));
}
