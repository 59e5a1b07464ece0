import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { authenticate, isReadOnly } from '../accounts/tokens/authenticate.ts';
import { config } from '../platform/config.ts';
import { invalid } from '../platform/errors.ts';
import { timestamp } from '../platform/fields.ts';
import { readJson } from '../platform/http/body.ts';
import type { App, Context } from '../platform/http/context.ts';
import { ok } from '../platform/http/envelope.ts';
import { readDeliveries } from './deliveries/list.ts';
import { fieldNames, pick } from './fields.ts';
import { parseWebhook, type WebhookOutput } from './schema.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  rotateSecret,
  type SavedWebhook,
  updateWebhook,
} from './service.ts';

/** The webhook resource. */
export const webhookRoutes = new Hono<App>()
  .get('/webhooks', authenticate('api'), list)
  .post('/webhook', authenticate('api'), create)
  .put('/webhook/:id', authenticate('api'), update)
  .delete('/webhook/:id', authenticate('api'), remove)
  .post('/webhook/:id/signing-secret', authenticate('api'), rotate);

/** What has become of notifications. */
export const deliveryRoutes = new Hono<App>().get('/deliveries', authenticate('api'), listDeliveries);

export const largestBody = 64 * 1024;

async function list(c: Context) {
  const webhooks = await listWebhooks(c.env, c.get('caller'));
  const hidden = isReadOnly(c.get('token')) && { headers: {} };
  return ok(
    c,
    'Webhooks',
    webhooks.map((webhook) => ({ ...present(webhook), ...hidden })),
  );
}

async function create(c: Context) {
  const input = await readWebhook(c);
  const webhook = await createWebhook(c.env, c.get('caller'), input);
  return ok(c, 'Webhook created', present(webhook));
}

async function update(c: Context) {
  const id = webhookId(c);
  const input = await readWebhook(c);
  const webhook = await updateWebhook(c.env, c.get('caller'), id, input);
  return ok(c, 'Webhook updated', present(webhook));
}

async function remove(c: Context) {
  await deleteWebhook(c.env, c.get('caller'), webhookId(c));
  return ok(c, 'Webhook deleted', true);
}

async function rotate(c: Context) {
  return ok(c, 'Signing secret rotated', await rotateSecret(c.env, c.get('caller'), webhookId(c)));
}

async function listDeliveries(c: Context) {
  const { items, next } = await readDeliveries(c.env, c.get('caller'), c.req.queries());
  return ok(c, 'Deliveries', items, next);
}

async function readWebhook(c: Context) {
  const policy = {
    ownHost: new URL(c.req.url).hostname,
    allowLoopback: config(c.env).allowLoopbackReceivers,
  };
  return parseWebhook(await readJson(c, largestBody), policy);
}

function webhookId(c: Context): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw invalid('Invalid webhook id');
  return id.toLowerCase();
}

const present = ({ createdAt, signingSecret, ...webhook }: SavedWebhook): WebhookOutput => ({
  ...pick(webhook, ['id', ...fieldNames]),
  createdAt: timestamp(createdAt),
  ...(signingSecret !== undefined && { signingSecret }),
});
