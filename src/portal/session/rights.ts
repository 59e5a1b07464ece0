import type { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { matchedRoutes } from 'hono/route';
import { findTargetHandler } from 'hono/utils/handler';
import { Refusal } from '../../platform/errors.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { limit } from '../../platform/http/limits.ts';
import { may, type Role } from '../../platform/roles.ts';

const roles = new WeakMap<object, Role>();

/**
 * The role that a route needs: `.post('/webhooks/new', needs('member'), add)`. It comes first on each route for people
 * who are signed in: `withinRights` refuses a route without it to everybody.
 */
export function needs(role: Role) {
  const mark = createMiddleware<App>((_, next) => next());
  roles.set(mark, role);
  return mark;
}

/** The first handler of the request's route, if there is one. */
function firstHandler(c: Context) {
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
  const route = matchedRoutes(c).find((one) => one.method === method);
  return route && findTargetHandler(route.handler);
}

export function roleFor(c: Context): Role | undefined {
  const handler = firstHandler(c);
  return handler && roles.get(handler);
}

/**
 * Checks the role of people who are signed in. A change checks it once more, in its own transaction: see `asCaller`.
 *
 * @throws Refusal: not allowed
 */
export const withinRights = createMiddleware<App>(async (c, next) => {
  const role = roleFor(c);
  const allowed = role ? may(c.get('session').user.role, role) : firstHandler(c) === undefined;
  if (!allowed) throw new Refusal({ kind: 'not allowed' });
  await next();
});

/**
 * Limits actions that cause calls or mail, such as tests, replays and invitations, per session and per account. Comes
 * before an action's handler.
 *
 * @throws Refusal: rate limited
 */
export const limitActions = createMiddleware<App>(async (c, next) => {
  const { hash, user } = c.get('session');
  await limit(c.env, 'ACTION_LIMIT', hash);
  await limit(c.env, 'ACCOUNT_ACTION_LIMIT', user.accountId);
  await next();
});

const base = '/portal';

let portal: Hono<App> | undefined;

/** Gives the routes to the pages, which routes.ts imports. */
export const linkTo = (routes: Hono<App>): void => {
  portal = routes;
};

/** The first route of the portal for an address. */
const routeFor = (method: 'GET' | 'POST', path: string) =>
  portal?.router
    .match(method, path.slice(base.length) || '/')[0]
    .find(([[, route]]) => route.method === method);

/** The page at an address, or else the one above it. */
export const pageOf = (path: string): string =>
  routeFor('GET', path) ? path : path.slice(0, path.lastIndexOf('/'));

/** The role that an address needs, so that pages show only permitted links and forms. */
export function roleForAddress(method: 'GET' | 'POST', address: string): Role {
  const path = address.split(/[?#]/)[0] ?? '';
  if (path !== base && !path.startsWith(`${base}/`)) return 'viewer';
  const first = routeFor(method, path);
  return (first && roles.get(first[0][0])) ?? 'viewer';
}
