import { createMiddleware } from 'hono/factory';
import { config } from '../platform/config.ts';
import { Refusal } from '../platform/errors.ts';
import type { App } from '../platform/http/context.ts';
import { limitByAddress } from '../platform/http/limits.ts';

/**
 * Authenticates by OPERATOR_KEY as `Authorization: Bearer`.
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
 * Compares digests in constant time. Hono's `timingSafeEqual` also compares the secrets themselves in JavaScript, in a
 * time that depends on their length.
 */
async function isSameSecret(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return crypto.subtle.timingSafeEqual(...(await Promise.all([digest(a), digest(b)])));
}
