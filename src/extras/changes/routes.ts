import { Hono } from 'hono';
import { authenticate } from '../../core/accounts/tokens/authenticate.ts';
import { connectionIdOf } from '../../core/fleet/service.ts';
import { type App, by, type Context, ok } from '../../core/platform/http/context.ts';
import { readChanges } from './feed.ts';

export const changeRoutes = new Hono<App>().get('/changes', authenticate('api'), changes);

async function changes(c: Context) {
  const { items, next, resume } = await readChanges(...by(c), {
    connectionId: connectionIdOf(c.req.header('connection-id')),
    query: c.req.queries(),
  });
  return ok(c, 'Changes', items, next, { resume });
}
