import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { invalid } from '../errors.ts';
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
    connectionId: connectionId(c, list.connectionRequired),
    query: c.req.queries(),
  });
  return ok(c, capitalised(list.plural), items, next);
}

function connectionId(c: Context, required: boolean): string | undefined {
  const id = c.req.header('connection-id')?.trim();
  if (!id) {
    if (required)
      throw invalid('Connection-Id header is required', [{ field: 'Connection-Id', message: 'is required' }]);
    return undefined;
  }
  if (!isUuid(id))
    throw invalid('Invalid connection id', [{ field: 'Connection-Id', message: 'must be a UUID' }]);
  return id.toLowerCase();
}
