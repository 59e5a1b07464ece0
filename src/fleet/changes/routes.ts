import { Hono } from 'hono';
import { authenticate } from '../../accounts/tokens/authenticate.ts';
import { connectionIdOf } from '../../platform/http/connection-id.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { ok } from '../../platform/http/envelope.ts';
import { readChanges } from './feed.ts';

/** What changed, in the order in which the service learned it. */
export const changeRoutes = new Hono<App>().get('/changes', authenticate('api'), page);

async function page(c: Context) {
  const { items, next, resume } = await readChanges(c.env, c.get('caller'), {
    connectionId: connectionIdOf(c),
    query: c.req.queries(),
  });
  return ok(c, 'Changes', items, next, { resume });
}
