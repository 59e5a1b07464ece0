import { createMiddleware } from 'hono/factory';
import { Refusal } from '../../core/platform/errors.ts';
import type { App, Context } from '../../core/platform/http/context.ts';

/**
 * Refuses changes unless the browser says, in `Origin` or in `Sec-Fetch-Site`, which no page can forge, that
 * a page of this origin sent them. Hono's `csrf` only checks the content types of forms.
 * @throws Refusal: cross-site
 */
export const sameOriginOnly = createMiddleware<App>(async (c, next) => {
  const readsOnly = c.req.method === 'GET' || c.req.method === 'HEAD';
  if (!readsOnly && !isSameOrigin(c)) throw new Refusal({ kind: 'cross-site' });
  await next();
});

function isSameOrigin(c: Context): boolean {
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site');
  if (origin === undefined && site === undefined) return false;
  const originAgrees = origin === undefined || origin === new URL(c.req.url).origin;
  const siteAgrees = site === undefined || site === 'same-origin' || site === 'none';
  return originAgrees && siteAgrees;
}
