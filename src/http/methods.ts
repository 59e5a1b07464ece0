import type { Hono } from 'hono';
import type { App } from './context.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The methods that some route of `app` answers at `path`; empty when there is no such path. */
export function allowedMethods(app: Hono<App>, path: string): string[] {
  const answered = methods.filter((method) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
  );
  return answered.includes('GET') ? [...answered, 'HEAD'] : answered;
}
