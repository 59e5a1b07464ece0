import { createMiddleware } from 'hono/factory';
import { config } from '../config.ts';
import { Refusal } from '../errors.ts';
import type { App } from '../http/context.ts';
import { limitUnknown } from '../http/limits.ts';

/** Lets pass who knows the secret OPERATOR_KEY, sent as `Authorization: Bearer`. */
export const authenticateOperator = createMiddleware<App>(async (c, next) => {
  const given = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
  if (!(await sameSecret(given, config(c.env).operatorKey))) {
    await limitUnknown(c);
    throw new Refusal({ kind: 'unauthenticated' });
  }
  await next();
});

/** Compares digests, in constant time, so that neither content nor length shows in how long it takes. */
async function sameSecret(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return crypto.subtle.timingSafeEqual(...(await Promise.all([digest(a), digest(b)])));
}
