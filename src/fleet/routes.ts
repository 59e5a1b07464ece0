import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import * as v from 'valibot';
import { authenticate } from '../accounts/tokens/authenticate.ts';
import { invalid, Refusal } from '../platform/errors.ts';
import { parse } from '../platform/fields.ts';
import type { App, Context } from '../platform/http/context.ts';
import { ok } from '../platform/http/envelope.ts';
import { QueryTime } from '../platform/query.ts';
import { readChanges } from './changes/feed.ts';
import { findItem } from './find.ts';
import { capitalised, type List } from './lists/list.ts';
import { lists } from './lists/registry.ts';
import { readList } from './service.ts';

/** A list for each registered one, an item of it by its id, and what changed in them. */
export const fleetRoutes = new Hono<App>();
for (const { list } of lists)
  fleetRoutes
    .get(list.path, authenticate('api'), (c) => page(c, list))
    .get(`${list.path}/:id`, authenticate('api'), (c) => item(c, list));
fleetRoutes.get('/changes', authenticate('api'), changes);

async function page(c: Context, list: List) {
  const { items, next } = await readList(c.env, c.get('caller'), list, {
    connectionId: connectionIdOf(c, list.connectionRequired),
    query: c.req.queries(),
  });
  return ok(c, capitalised(list.plural), items, next);
}

/** An item as its list shows it. `at` leads to one in the archive. */
async function item(c: Context, list: List) {
  const id = c.req.param('id')?.toLowerCase() ?? '';
  const { at } = parse(ItemQuery, c.req.queries());
  const found = isUuid(id) && (await findItem(c.env, c.get('caller'), list, id, at));
  if (!found) throw new Refusal({ kind: 'not found' });
  return ok(c, capitalised(list.singular), found);
}

const ItemQuery = v.object({ at: v.optional(QueryTime) });

/** In the order in which the service learned it. */
async function changes(c: Context) {
  const { items, next, resume } = await readChanges(c.env, c.get('caller'), {
    connectionId: connectionIdOf(c),
    query: c.req.queries(),
  });
  return ok(c, 'Changes', items, next, { resume });
}

/** The connection that the request names in its Connection-Id header. @throws Refusal: invalid */
function connectionIdOf(c: Context, required = false): string | undefined {
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
