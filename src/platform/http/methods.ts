import type { Hono } from 'hono';
import type { App } from './context.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The methods that `app` has routes for at `path`; empty if there is no such path. */
export function allowedMethods(app: Hono<App>, path: string): string[] {
  const routed = methods.filter((method) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
  );
  return routed.includes('GET') ? [...routed, 'HEAD'] : routed;
}
