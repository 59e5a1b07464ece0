import { Hono } from 'hono';
import { findByName, listByName } from '../../fleet/by-name.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { needs } from '../session/rights.ts';
import { DriverTable } from './fleet-tables.tsx';
import { afterIn, pageByName, perPage, typedIn } from './lists.tsx';

/** The drivers of the account by name. */
export const driverListPages = new Hono<App>().get('/drivers', needs('viewer'), list);

async function list(c: Context) {
  const q = typedIn(c);
  const found = q
    ? { items: (await findByName(c.env, c.get('caller'), q, perPage)).drivers }
    : await listByName(c.env, c.get('caller'), 'driver', { after: afterIn(c), limit: perPage });
  return pageByName(
    c,
    {
      title: 'Drivers',
      path: '/portal/drivers',
      icon: 'id-card',
      one: 'driver',
      hint: 'Name',
      empty: 'They appear here once a connection has sent them.',
    },
    found,
    <DriverTable drivers={found.items.slice(0, perPage)} />,
  );
}
