import { Hono } from 'hono';
import { connectionIdOf } from '../http/connection-id.ts';
import type { App, Context } from '../http/context.ts';
import { ok } from '../http/envelope.ts';
import { authenticate } from '../tokens/authenticate.ts';
import { readChanges } from './feed.ts';

/** What changed, in the order in which the service learned it (design 12). */
export const changeRoutes = new Hono<App>().get('/changes', authenticate('api'), page);

async function page(c: Context) {
  const { items, next, resume } = await readChanges(c.env, c.get('caller'), {
    connectionId: connectionIdOf(c),
    query: c.req.queries(),
  });
  return ok(c, 'Changes', items, next, { resume });
}
