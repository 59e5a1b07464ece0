import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import * as v from 'valibot';
import { authenticate } from '../accounts/tokens/authenticate.ts';
import { invalid, Refusal } from '../platform/errors.ts';
import { parse, parseQuery } from '../platform/fields.ts';
import { readJson, refuseOther } from '../platform/http/body.ts';
import type { App, Context } from '../platform/http/context.ts';
import { ok } from '../platform/http/envelope.ts';
import { QueryTime } from '../platform/query.ts';
import { capital } from '../platform/text.ts';
import { readChanges } from './changes/feed.ts';
import { updateConnection } from './connections.ts';
import { setVehicleExternalId } from './external-ids.ts';
import { findItem } from './find.ts';
import { connections } from './lists/connections.ts';
import type { List } from './lists/list.ts';
import { lists } from './lists/registry.ts';
import { ExternalIdInput } from './lists/resource.ts';
import { vehicles } from './lists/vehicles.ts';
import { readList } from './service.ts';

/** Each registered list, its items by id, and the change feed. */
export const fleetRoutes = new Hono<App>();
for (const { list } of lists)
  fleetRoutes
    .get(list.path, authenticate('api'), (c) => page(c, list))
    .get(`${list.path}/:id`, authenticate('api'), (c) => item(c, list));
fleetRoutes
  .get('/changes', authenticate('api'), changes)
  .put('/connections/:id', authenticate('api'), (c) => nameConnection(c))
  .put('/vehicles/:id', authenticate('api'), (c) => nameVehicle(c));

async function page(c: Context, list: List) {
  const { items, next } = await readList(c.env, c.get('caller'), list, {
    connectionId: connectionIdOf(c, list.connectionRequired),
    query: c.req.queries(),
  });
  return ok(c, capital(list.plural), items, next);
}

/** An item as its list shows it. `at` finds an archived one. */
async function item(c: Context, list: List) {
  const id = c.req.param('id')?.toLowerCase() ?? '';
  const { at } = parseQuery(ItemQuery, c.req.queries());
  const found = isUuid(id) && (await findItem(c.env, c.get('caller'), list, id, at));
  if (!found) throw new Refusal({ kind: 'not found' });
  return ok(c, capital(list.singular), found);
}

const largestBody = 64 * 1024;

const ItemQuery = v.object({ at: v.optional(QueryTime) });

/** Sets the account's own identifier of a connection. */
async function nameConnection(c: Context) {
  const { id, change } = await renaming(c, connections);
  const { list } = connections;
  if (!(await findItem(c.env, c.get('caller'), list, id))) throw new Refusal({ kind: 'not found' });
  await updateConnection(c.env, c.get('caller'), id, change);
  return ok(c, 'Connection changed', await findItem(c.env, c.get('caller'), list, id));
}

async function nameVehicle(c: Context) {
  const { id, change } = await renaming(c, vehicles);
  const vehicle = await setVehicleExternalId(c.env, c.get('caller'), id, change.externalId);
  if (!vehicle) throw new Refusal({ kind: 'not found' });
  return ok(c, 'Vehicle changed', vehicle);
}

/** The rest of an item may be sent back as its list shows it. */
async function renaming(c: Context, { itemFields }: { itemFields: object }) {
  const body = await readJson(c, largestBody);
  const change = parse(ExternalIdInput, body, Object.keys(itemFields));
  const id = c.req.param('id')?.toLowerCase() ?? '';
  if (!isUuid(id)) throw new Refusal({ kind: 'not found' });
  refuseOther(body, id);
  return { id, change };
}

/** In the order they were received. */
async function changes(c: Context) {
  const { items, next, resume } = await readChanges(c.env, c.get('caller'), {
    connectionId: connectionIdOf(c),
    query: c.req.queries(),
  });
  return ok(c, 'Changes', items, next, { resume });
}

/** The connection in the Connection-Id header. @throws Refusal: invalid */
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
