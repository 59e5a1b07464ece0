import { Hono } from 'hono';
import type { App, Context } from '../http/context.ts';
import { ok } from '../http/envelope.ts';
import { authenticate } from '../tokens/authenticate.ts';
import { readDeliveries } from './list.ts';

/** What has become of notifications, for customers to read (design 12). */
export const deliveryRoutes = new Hono<App>().get('/deliveries', authenticate('api'), list);

async function list(c: Context) {
  const { items, next } = await readDeliveries(c.env, c.get('caller'), c.req.queries());
  return ok(c, 'Deliveries', items, next);
}
