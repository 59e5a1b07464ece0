import { Hono } from 'hono';
import { authenticate } from '../../accounts/tokens/authenticate.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { ok } from '../../platform/http/envelope.ts';
import { readDeliveries } from './list.ts';

/** What has become of notifications, for customers to read. */
export const deliveryRoutes = new Hono<App>().get('/deliveries', authenticate('api'), list);

async function list(c: Context) {
  const { items, next } = await readDeliveries(c.env, c.get('caller'), c.req.queries());
  return ok(c, 'Deliveries', items, next);
}
