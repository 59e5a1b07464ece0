import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { authenticate, limitActions } from '../../accounts/tokens/authenticate.ts';
import { Refusal } from '../../platform/errors.ts';
import { readNothing, refuseParameters } from '../../platform/http/body.ts';
import { type App, type Context, ok } from '../../platform/http/context.ts';
import type { DeliveryKey } from './policy.ts';
import { findDelivery, webhookOfDelivery } from './read/find.ts';
import { detailsOf, readDeliveries, summaryOf } from './read/list.ts';
import { replayOne, sendNow } from './read/replay.ts';

export const deliveryRoutes = new Hono<App>()
  .get('/deliveries', authenticate('api'), list)
  .get('/deliveries/:id', authenticate('api'), item)
  .post('/deliveries/:id/replay', authenticate('api'), limitActions, act(replayOne, 'Replayed'))
  .post('/deliveries/:id/send', authenticate('api'), limitActions, act(sendNow, 'Delivery is due'));

async function item(c: Context) {
  refuseParameters(c);
  return show(c, 'Delivery', await deliveryKey(c), detailsOf);
}

function act(does: typeof replayOne | typeof sendNow, message: string) {
  return async (c: Context) => {
    await readNothing(c);
    const key = await deliveryKey(c);
    await does(c.env, c.get('caller'), key);
    return show(c, message, key);
  };
}

/** The delivery in the path. @throws Refusal: not found, also for another account's */
async function deliveryKey(c: Context): Promise<DeliveryKey> {
  const id = c.req.param('id')?.toLowerCase() ?? '';
  const webhookId = isUuid(id) && (await webhookOfDelivery(c.env, c.get('caller'), id));
  if (!webhookId) throw new Refusal({ kind: 'not found', what: 'delivery' });
  return { webhookId, id };
}

async function show(
  c: Context,
  message: string,
  key: DeliveryKey,
  present: typeof detailsOf | typeof summaryOf = summaryOf,
) {
  const found = await findDelivery(c.env, c.get('caller'), key);
  if (!found) throw new Refusal({ kind: 'not found', what: 'delivery' });
  return ok(c, message, present(found));
}

async function list(c: Context) {
  const { items, next } = await readDeliveries(c.env, c.get('caller'), c.req.queries());
  return ok(c, 'Deliveries', items, next);
}
