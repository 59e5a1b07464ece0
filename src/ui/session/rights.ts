import type { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { Refusal } from '../../core/platform/errors.ts';
import type { App, Context } from '../../core/platform/http/context.ts';
import { limit } from '../../core/platform/http/limits.ts';
import { may, type Role } from '../../core/platform/roles.ts';

type RoleOf = (method: string, address: string) => Role | undefined;

declare module 'hono' {
  interface ContextVariableMap {
    roleOf?: RoleOf;
  }
}

/** The roles that middleware requires. */
const required = new WeakMap<object, Role>();

/**
 * Admits people with this role at least. A change checks it once more, in its own transaction: see `asCaller`.
 * @throws Refusal: not allowed
 */
export function role(needs: Role) {
  const middleware = createMiddleware<App>(async (c, next) => {
    c.set('caller', { ...c.get('caller'), needs });
    if (!may(c.get('session').user.role, needs)) throw new Refusal({ kind: 'not allowed' });
    await next();
  });
  required.set(middleware, needs);
  return middleware;
}

/** Limits how often people, and all of an account, come. @throws Refusal: rate limited */
export const limited = createMiddleware<App>(async (c, next) => {
  const { hash, user } = c.get('session');
  await limit(c.env, 'ACTION_LIMIT', hash);
  await limit(c.env, 'ACCOUNT_ACTION_LIMIT', user.accountId);
  await next();
});

const base = '/portal';

/** The role that an app's route for a request requires, as its middleware says. */
export const rolesIn =
  (app: Hono<App>): RoleOf =>
  (method, address) => {
    const path = address.split(/[?#]/)[0] ?? '';
    if (path !== base && !path.startsWith(`${base}/`)) return undefined;
    const [found] = app.router.match(method, path.slice(base.length) || '/');
    return found.map(([[handler]]) => required.get(handler)).find((needs) => needs !== undefined);
  };

/** The role that the request needs. */
export function neededBy(c: Context): Role | undefined {
  const caller = c.get('caller');
  return caller && 'credential' in caller ? caller.needs : undefined;
}

/** What is recorded as opened by a person, which an operator who looks at the portal is not. */
const isEvidence = /\/evidence(?:\/|$)/;

/** Whether the reader of a page may follow a link, or send a form, to this address. */
export function mayGo(c: Context, method: 'GET' | 'POST', address: string): boolean {
  if (c.get('session')?.look && (method === 'POST' || isEvidence.test(address))) return false;
  const needs = c.get('roleOf')?.(method, address);
  return needs === undefined || may(c.get('session')?.user.role ?? 'viewer', needs);
}
