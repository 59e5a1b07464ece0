import { Hono } from 'hono';
import { authenticate } from '../../core/accounts/tokens/authenticate.ts';
import { updateConnection } from '../../core/fleet/connections.ts';
import { findItem, idOf, notFound } from '../../core/fleet/find.ts';
import { connections } from '../../core/fleet/lists/connections.ts';
import { ExternalIdInput } from '../../core/fleet/lists/resource.ts';
import { vehicles } from '../../core/fleet/lists/vehicles.ts';
import { parse } from '../../core/platform/fields.ts';
import { readJson, refuseOther } from '../../core/platform/http/body.ts';
import { type App, by, type Context, ok } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { setVehicleExternalId } from './external-ids.ts';

export const externalIdRoutes = new Hono<App>()
  .put('/connections/:id', authenticate('api'), (c) =>
    identify(c, connections, async (id, externalId) => {
      const found = await findItem(...by(c), connections.list, id);
      if (!found || found.externalId === externalId) return found;
      await updateConnection(...by(c), id, { externalId });
      return findItem(...by(c), connections.list, id);
    }),
  )
  .put('/vehicles/:id', authenticate('api'), (c) =>
    identify(c, vehicles, (id, externalId) => setVehicleExternalId(...by(c), id, externalId)),
  );

const largestBody = 64 * 1024;

/** Sets the account's own identifier of an item, of which the rest may be sent back as listed. */
async function identify(
  c: Context,
  { list, itemFields }: { list: { singular: string }; itemFields: object },
  set: (id: string, externalId: string | null) => Promise<object | undefined>,
) {
  const body = await readJson(c, largestBody);
  const { externalId } = parse(ExternalIdInput, body, Object.keys(itemFields));
  const id = idOf(list, c.req.param('id'));
  refuseOther(body, id);
  const changed = await set(id, externalId);
  if (!changed) throw notFound(list);
  return ok(c, `${capital(list.singular)} changed`, changed);
}
