import { Hono } from 'hono';
import * as v from 'valibot';
import { authenticate } from '../accounts/tokens/authenticate.ts';
import { parseQuery } from '../platform/fields.ts';
import { type App, by, type Context, ok } from '../platform/http/context.ts';
import { QueryTime } from '../platform/query.ts';
import { capital } from '../platform/text.ts';
import { findItem, idOf, notFound } from './find.ts';
import type { List } from './lists/list.ts';
import { lists } from './lists/registry.ts';
import { connectionIdOf, readList } from './service.ts';

/** Each registered list, and its items by id. */
export const fleetRoutes = new Hono<App>();
for (const { list } of lists)
  fleetRoutes
    .get(list.path, authenticate('api'), (c) => page(c, list))
    .get(`${list.path}/:id`, authenticate('api'), (c) => item(c, list));

async function page(c: Context, list: List) {
  const { items, next } = await readList(...by(c), list, {
    connectionId: connectionIdOf(c.req.header('connection-id'), list.connectionRequired),
    query: c.req.queries(),
  });
  return ok(c, capital(list.plural), items, next);
}

/** An item as its list shows it. `at` finds an archived one. */
async function item(c: Context, list: List) {
  const { at } = parseQuery(ItemQuery, c.req.queries());
  const found = await findItem(...by(c), list, idOf(list, c.req.param('id')), at);
  if (!found) throw notFound(list);
  return ok(c, capital(list.singular), found);
}

const ItemQuery = v.object({ at: v.optional(QueryTime) });
