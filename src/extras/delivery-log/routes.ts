import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { authenticate, limitActions } from '../../core/accounts/tokens/authenticate.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { parse } from '../../core/platform/fields.ts';
import { readJson, readNothing, refuseParameters } from '../../core/platform/http/body.ts';
import { type App, by, type Context, ok } from '../../core/platform/http/context.ts';
import { rangeOf } from '../../core/platform/query.ts';
import { starter } from '../../core/webhooks/deliveries/consumer.ts';
import type { DeliveryKey } from '../../core/webhooks/deliveries/policy.ts';
import { requireWebhook, webhookIdIn } from '../../core/webhooks/stored.ts';
import { findDelivery, webhookOfDelivery } from './find.ts';
import { detailsOf, readDeliveries, summaryOf } from './list.ts';
import { countReplayable, replay, replayOne, sendNow } from './replay.ts';
import { ReplayInput, type ReplayOutcome, TestInput } from './schema.ts';
import { madeUp, sendTest } from './simulate.ts';

const largestBody = 64 * 1024;

export const deliveryRoutes = new Hono<App>()
  .get('/deliveries', authenticate('api'), list)
  .get('/deliveries/:id', authenticate('api'), item)
  .post('/webhook/:id/replay', authenticate('api'), limitActions, replayMissed)
  .post('/webhook/:id/test', authenticate('api'), limitActions, test)
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

/** Replays what a webhook has missed, or counts it. */
async function replayMissed(c: Context) {
  const { dryRun, from, to, ...rest } = parse(ReplayInput, await readJson(c, largestBody));
  const { id } = await requireWebhook(...by(c), webhookIdIn(c.req.param('id')));
  const span = rangeOf(from, to);
  const selection = { ...rest, since: span.from, until: span.to };
  if (dryRun) return ok(c, 'Counted', await countReplayable(...by(c), id, selection));
  const { replayed, ...others } = await replay(...by(c), id, selection);
  return ok(c, 'Replayed', { count: replayed, ...others } satisfies ReplayOutcome);
}

async function test(c: Context) {
  const input = parse(TestInput, await readJson(c, largestBody));
  const webhook = await requireWebhook(...by(c), webhookIdIn(c.req.param('id')));
  const { env, executionCtx } = c;
  const [caller, requestId, start] = [
    c.get('caller'),
    c.get('requestId'),
    starter(env, executionCtx),
  ];
  return ok(
    c,
    'Test sent',
    await sendTest(env, caller, requestId, webhook, madeUp(input, webhook), start),
  );
}
