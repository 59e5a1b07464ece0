import { Hono } from 'hono';
import { findByName, listByName } from '../../fleet/by-name.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { needs } from '../session/rights.ts';
import { VehicleTable } from './fleet-tables.tsx';
import { afterIn, pageByName, perPage, typedIn } from './lists.tsx';

/** The vehicles of the account by name. */
export const vehicleListPages = new Hono<App>().get('/vehicles', needs('viewer'), list);

async function list(c: Context) {
  const q = typedIn(c);
  const found = q
    ? { items: (await findByName(c.env, c.get('caller'), q, perPage)).vehicles }
    : await listByName(c.env, c.get('caller'), 'vehicle', { after: afterIn(c), limit: perPage });
  return pageByName(
    c,
    {
      title: 'Vehicles',
      path: '/portal/vehicles',
      icon: 'truck',
      one: 'vehicle',
      hint: 'Name, plate or VIN',
      empty: 'They appear here once a connection has sent them.',
    },
    found,
    <VehicleTable vehicles={found.items.slice(0, perPage)} />,
  );
}
