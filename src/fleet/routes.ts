import { Hono, type Context as HonoContext } from 'hono';
import { validate as isUuid } from 'uuid';
import type { ListTable } from '../db/pages.ts';
import { invalid } from '../errors.ts';
import type { App, Context } from '../http/context.ts';
import { ok } from '../http/envelope.ts';
import { authenticate } from '../tokens/authenticate.ts';
import { connectionList, driverList, type List, safetyEventList, tripList, vehicleList } from './lists.ts';
import { readList } from './service.ts';

/** The five lists (spec 4.5). */
export const fleetRoutes = new Hono<App>()
  .get(connectionList.path, authenticate('api'), answer(connectionList, 'Connections'))
  .get(driverList.path, authenticate('api'), answer(driverList, 'Drivers'))
  .get(vehicleList.path, authenticate('api'), answer(vehicleList, 'Vehicles'))
  .get(tripList.path, authenticate('api'), answer(tripList, 'Trips'))
  .get(safetyEventList.path, authenticate('api'), answer(safetyEventList, 'Safety events'));

function answer<T extends ListTable>(list: List<T>, message: string) {
  return async (c: HonoContext<App>) => {
    const { items, next } = await readList(c.env, c.get('caller'), list, {
      connectionId: connectionId(c, list.connectionRequired),
      query: c.req.queries(),
    });
    return ok(c, message, items, next);
  };
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
