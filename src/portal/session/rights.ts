import { createMiddleware } from 'hono/factory';
import { TrieRouter } from 'hono/router/trie-router';
import { Refusal } from '../../platform/errors.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { limit } from '../../platform/http/limits.ts';
import { may, type Role } from '../../platform/roles.ts';

/** A route: methods (a FORM is shown by GET, sent by POST), path, role, handler, and limit. */
export type Route = [
  methods: 'GET' | 'POST' | 'FORM',
  path: string,
  role: Role | 'anyone',
  handle: (c: Context) => Response | Promise<Response>,
  limited?: 'limited',
];

type RoleOf = (method: string, address: string) => Route[2] | undefined;

declare module 'hono' {
  interface ContextVariableMap {
    roleOf?: RoleOf;
  }
}

const base = '/portal';

export const methodsOf = ([methods]: Route) => (methods === 'FORM' ? ['GET', 'POST'] : [methods]);

export function rolesIn(routes: Route[]): RoleOf {
  const router = new TrieRouter<Route[2]>();
  for (const route of routes) {
    const [, path, role] = route;
    for (const method of methodsOf(route)) router.add(method, path, role);
  }
  return (method, address) => {
    const path = address.split(/[?#]/)[0] ?? '';
    const isOurs = path === base || path.startsWith(`${base}/`);
    return isOurs ? router.match(method, path.slice(base.length) || '/')[0][0]?.[0] : undefined;
  };
}

/**
 * Checks a person's role, and how often they come where that is limited. A change checks the role
 * once more, in its own transaction: see `asCaller`.
 * @throws Refusal: not allowed, rate limited
 */
export const admit = ([methods, , role, , limited]: Route) =>
  createMiddleware<App>(async (c, next) => {
    if (role === 'anyone') return next();
    const { hash, user } = c.get('session');
    c.set('caller', { sessionHash: hash, accountId: user.accountId, needs: role });
    if (!may(user.role, role)) throw new Refusal({ kind: 'not allowed' });
    if (limited && (methods !== 'FORM' || c.req.method === 'POST')) {
      await limit(c.env, 'ACTION_LIMIT', hash);
      await limit(c.env, 'ACCOUNT_ACTION_LIMIT', user.accountId);
    }
    return next();
  });

/** The role that the request needs. */
export function neededBy(c: Context): Role | undefined {
  const caller = c.get('caller');
  return caller && 'sessionHash' in caller ? caller.needs : undefined;
}

/** Whether the reader of a page may follow a link, or send a form, to this address. */
export function mayGo(c: Context, method: 'GET' | 'POST', address: string): boolean {
  const role = c.get('roleOf')?.(method, address) ?? 'anyone';
  return role === 'anyone' || may(c.get('session')?.user.role ?? 'viewer', role);
}
