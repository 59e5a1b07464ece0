import { Hono } from 'hono';
import { connectionIdOf } from '../http/connection-id.ts';
import type { App, Context } from '../http/context.ts';
import { ok } from '../http/envelope.ts';
import { authenticate } from '../tokens/authenticate.ts';
import { capitalised, type List } from './list.ts';
import { lists } from './registry.ts';
import { readList } from './service.ts';

/** A list for each registered one (spec 4.5). */
export const fleetRoutes = new Hono<App>();
for (const { list } of lists) fleetRoutes.get(list.path, authenticate('api'), (c) => page(c, list));

async function page(c: Context, list: List) {
  const { items, next } = await readList(c.env, c.get('caller'), list, {
    connectionId: connectionIdOf(c, list.connectionRequired),
    query: c.req.queries(),
  });
  return ok(c, capitalised(list.plural), items, next);
}
