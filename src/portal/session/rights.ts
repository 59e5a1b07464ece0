import { createMiddleware } from 'hono/factory';
import { matchedRoutes } from 'hono/route';
import { Refusal } from '../../platform/errors.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { may, type Role } from '../../platform/roles.ts';

/**
 * What everybody who is signed in may do, what members may do, and what only admins may: each page and action of the
 * portal is in one of these lists. An action that is in none is refused to everybody.
 */
export const rights: { [role in Role]: string[] } = {
  viewer: [
    'GET /',
    'GET /connections',
    'GET /connections/:id',
    'GET /events',
    'GET /events.csv',
    'GET /events/:id',
    'GET /accidents',
    'GET /accidents/:eventId',
    'GET /vehicles',
    'GET /vehicles/:id',
    'GET /drivers',
    'GET /drivers/:id',
    'GET /trips',
    'GET /trips/:id',
    'GET /search',
    'GET /tick',
    'GET /webhooks',
    'GET /webhooks/:id',
    'GET /webhooks/:id/deliveries/:deliveryId',
    'GET /settings',
    'GET /settings/tokens',
    'GET /settings/people',
    'GET /settings/notifications',
    'POST /settings/notifications',
    'GET /settings/audit',
    'GET /settings/account',
    'POST /settings/account',
    'POST /setup/hide',
    'POST /sign-out',
    'POST /sign-out-everywhere',
  ],
  member: [
    'GET /connections/new',
    'POST /connections/new',
    'POST /connections/:id/pull',
    'POST /connections/:id/pause',
    'POST /connections/:id/resume',
    'POST /connections/:id/webhook-secret',
    'GET /connections/:id/credential',
    'POST /connections/:id/credential',
    'GET /connections/:id/remove',
    'POST /connections/:id/remove',
    'GET /webhooks/new',
    'POST /webhooks/new',
    'GET /webhooks/:id/edit',
    'POST /webhooks/:id/edit',
    'GET /webhooks/:id/delete',
    'POST /webhooks/:id/delete',
    'POST /webhooks/:id/test-event',
    'POST /webhooks/:id/test-accident',
    'GET /webhooks/:id/replay',
    'POST /webhooks/:id/replay',
    'POST /webhooks/:id/replay-selected',
    'POST /webhooks/:id/deliveries/:deliveryId/replay',
  ],
  admin: [
    'POST /settings/tokens',
    'GET /settings/tokens/:id/revoke',
    'POST /settings/tokens/:id/revoke',
    'POST /settings/people',
    'GET /settings/people/:id/role',
    'POST /settings/people/:id/role',
    'GET /settings/people/:id/remove',
    'POST /settings/people/:id/remove',
  ],
};

/** Where the portal's routes are mounted. */
const base = '/portal';

const byRoute = new Map(
  Object.entries(rights).flatMap(
    ([role, routes]) => routes.map((route) => [route, role as Role] as const), // the keys of `rights`
  ),
);

/** The role that a route of the portal needs, such as "POST /webhooks/:id/edit"; undefined if no list has it. */
export const roleForRoute = (route: string): Role | undefined => byRoute.get(route);

/** The role that a request needs. */
export const roleFor = (c: Context): Role | undefined => roleForRoute(routeOf(c) ?? '');

/** The route that replies to a request: the first of those that match. */
function routeOf(c: Context): string | undefined {
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
  const route = matchedRoutes(c).find((one) => one.method === method);
  return route && `${method} ${route.path.slice(base.length) || '/'}`;
}

/**
 * Lets people who are signed in do what their role includes. A change checks the role once more, in its own transaction:
 * see `asCaller`.
 *
 * @throws Refusal: not allowed
 */
export const withinRights = createMiddleware<App>(async (c, next) => {
  const route = routeOf(c);
  const needed = route === undefined || route.startsWith('GET ') ? (roleFor(c) ?? 'viewer') : roleFor(c);
  if (needed === undefined || !may(c.get('session').user.role, needed))
    throw new Refusal({ kind: 'not allowed' });
  await next();
});

const patterns = [...byRoute]
  .map(([route, role]) => ({
    role,
    pattern: new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+').replaceAll('.', '\\.')}$`),
    parameters: route.split(':').length,
  }))
  .sort((a, b) => a.parameters - b.parameters);

/** The role that following a link, or sending a form, to an address needs: so that pages show no others. */
export function roleForAddress(method: 'GET' | 'POST', address: string): Role {
  const path = address.split(/[?#]/)[0] ?? '';
  if (path !== base && !path.startsWith(`${base}/`)) return 'viewer';
  const asked = `${method} ${path.slice(base.length) || '/'}`;
  return patterns.find(({ pattern }) => pattern.test(asked))?.role ?? 'viewer';
}
