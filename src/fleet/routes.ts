import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import * as v from 'valibot';
import { authenticate } from '../accounts/tokens/authenticate.ts';
import { invalid, Refusal } from '../platform/errors.ts';
import { parse, parseQuery } from '../platform/fields.ts';
import { readJson, refuseOther, refuseParameters } from '../platform/http/body.ts';
import { type App, by, type Context, ok } from '../platform/http/context.ts';
import { storedFile } from '../platform/http/stored-file.ts';
import { QueryTime } from '../platform/query.ts';
import { capital } from '../platform/text.ts';
import { readChanges } from './changes/feed.ts';
import { updateConnection } from './connections.ts';
import { findWithEvidence, openFile } from './evidence/evidence.ts';
import { setVehicleExternalId } from './external-ids.ts';
import { findItem } from './find.ts';
import { accidents } from './lists/accidents.ts';
import { connections } from './lists/connections.ts';
import type { List } from './lists/list.ts';
import { lists } from './lists/registry.ts';
import { ExternalIdInput } from './lists/resource.ts';
import { vehicles } from './lists/vehicles.ts';
import { readList } from './service.ts';

/** Each registered list, its items by id, and the change feed. */
export const fleetRoutes = new Hono<App>()
  .get('/accidents/:id', authenticate('api'), accident)
  .get('/accidents/:id/evidence/:evidenceId', authenticate('api'), evidence);
for (const { list } of lists)
  fleetRoutes
    .get(list.path, authenticate('api'), (c) => page(c, list))
    .get(`${list.path}/:id`, authenticate('api'), (c) => item(c, list));
fleetRoutes.get('/changes', authenticate('api'), changes);
fleetRoutes.put('/connections/:id', authenticate('api'), (c) =>
  identify(c, connections, async (id, externalId) => {
    if (!(await findItem(...by(c), connections.list, id))) return undefined;
    await updateConnection(...by(c), id, { externalId });
    return findItem(...by(c), connections.list, id);
  }),
);
fleetRoutes.put('/vehicles/:id', authenticate('api'), (c) =>
  identify(c, vehicles, (id, externalId) => setVehicleExternalId(...by(c), id, externalId)),
);

async function page(c: Context, list: List) {
  const { items, next } = await readList(...by(c), list, {
    connectionId: connectionIdOf(c, list.connectionRequired),
    query: c.req.queries(),
  });
  return ok(c, capital(list.plural), items, next);
}

/** An item as its list shows it. `at` finds an archived one. */
async function item(c: Context, list: List) {
  const { at } = parseQuery(ItemQuery, c.req.queries());
  const found = await findItem(...by(c), list, idIn(c, list), at);
  if (!found) throw notFound(list);
  return ok(c, capital(list.singular), found);
}

/** Returns an accident with its evidence. */
async function accident(c: Context) {
  parseQuery(ItemQuery, c.req.queries());
  const found = await findWithEvidence(...by(c), idIn(c, accidents.list));
  if (!found) throw notFound(accidents.list);
  return ok(c, 'Accident', found);
}

/** A file of an accident's evidence. */
async function evidence(c: Context) {
  refuseParameters(c);
  const asked = {
    accidentId: idIn(c, accidents.list),
    id: c.req.param('evidenceId') ?? '',
    by: c.get('token').id,
  };
  const { file, open } = await openFile(...by(c), asked);
  return storedFile(c, file, 'attachment', open);
}

const ItemQuery = v.object({ at: v.optional(QueryTime) });

const notFound = ({ singular }: Pick<List, 'singular'>) =>
  new Refusal({ kind: 'not found', what: singular });

function idIn(c: Context, list: Pick<List, 'singular'>): string {
  const id = c.req.param('id')?.toLowerCase() ?? '';
  if (!isUuid(id)) throw notFound(list);
  return id;
}

const largestBody = 64 * 1024;

/** Sets the account's own identifier of an item, of which the rest may be sent back as listed. */
async function identify(
  c: Context,
  { list, itemFields }: { list: { singular: string }; itemFields: object },
  set: (id: string, externalId: string | null) => Promise<object | undefined>,
) {
  const body = await readJson(c, largestBody);
  const { externalId } = parse(ExternalIdInput, body, Object.keys(itemFields));
  const id = idIn(c, list);
  refuseOther(body, id);
  const changed = await set(id, externalId);
  if (!changed) throw notFound(list);
  return ok(c, `${capital(list.singular)} changed`, changed);
}

async function changes(c: Context) {
  const { items, next, resume } = await readChanges(...by(c), {
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
      throw invalid('Connection-Id header is required', [
        { field: 'Connection-Id', message: 'is required' },
      ]);
    return undefined;
  }
  if (!isUuid(id))
    throw invalid('Invalid connection id', [{ field: 'Connection-Id', message: 'must be a UUID' }]);
  return id.toLowerCase();
}
