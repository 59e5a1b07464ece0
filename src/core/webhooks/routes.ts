import { Hono } from 'hono';
import { authenticate } from '../accounts/tokens/authenticate.ts';
import { config } from '../platform/config.ts';
import { parseQuery, timestamp } from '../platform/fields.ts';
import { readJson, readNothing, refuseOther } from '../platform/http/body.ts';
import { type App, by, type Context, ok } from '../platform/http/context.ts';
import { fieldNames, pick } from './fields.ts';
import {
  parseWebhook,
  WebhookInput,
  type WebhookOutput,
  WebhookQuery,
  type WebhookState,
  WebhookUpdate,
} from './schema.ts';
import {
  createWebhook,
  deleteWebhook,
  rotateSecret,
  type SavedWebhook,
  setPaused,
  updateWebhook,
} from './service.ts';
import { readStates } from './state.ts';
import { listWebhooks, requireWebhook, type StoredWebhook, webhookIdIn } from './stored.ts';

export const webhookRoutes = new Hono<App>()
  .get('/webhooks', authenticate('api'), list)
  .post('/webhook', authenticate('api'), create)
  .get('/webhook/:id', authenticate('api'), item)
  .put('/webhook/:id', authenticate('api'), update)
  .delete('/webhook/:id', authenticate('api'), remove)
  .post('/webhook/:id/signing-secret', authenticate('api'), rotate)
  .post('/webhook/:id/pause', authenticate('api'), pausing(true))
  .post('/webhook/:id/resume', authenticate('api'), pausing(false));

export const largestBody = 64 * 1024;

async function list(c: Context) {
  const query = parseQuery(WebhookQuery, c.req.queries());
  const [webhooks, states] = await Promise.all([
    listWebhooks(...by(c)),
    query.include && readStates(...by(c)),
  ]);
  return ok(c, 'Webhooks', webhooks.map(presentTo(c, states)));
}

async function item(c: Context) {
  const query = parseQuery(WebhookQuery, c.req.queries());
  const id = webhookId(c);
  const [webhook, states] = await Promise.all([
    requireWebhook(...by(c), id),
    query.include && readStates(...by(c), id),
  ]);
  return ok(c, 'Webhook', presentTo(c, states)(webhook));
}

async function create(c: Context) {
  const input = await readWebhook(c);
  const webhook = await createWebhook(...by(c), input);
  return ok(c, 'Webhook created', present(webhook));
}

async function update(c: Context) {
  const id = webhookId(c);
  const input = await readWebhook(c, id);
  const webhook = await updateWebhook(...by(c), id, input);
  return ok(c, 'Webhook updated', present(webhook));
}

async function remove(c: Context) {
  await readNothing(c);
  await deleteWebhook(...by(c), webhookId(c));
  return ok(c, 'Webhook deleted', true);
}

async function rotate(c: Context) {
  await readNothing(c);
  return ok(c, 'Signing secret rotated', await rotateSecret(...by(c), webhookId(c)));
}

function pausing(paused: boolean) {
  return async (c: Context) => {
    await readNothing(c);
    const webhook = await setPaused(...by(c), webhookId(c), paused);
    return ok(c, `Webhook ${paused ? 'paused' : 'resumed'}`, present(webhook));
  };
}

/** With the `id` of the path, which the body may repeat. */
async function readWebhook(c: Context, id?: string) {
  const policy = {
    ownHost: new URL(c.req.url).hostname,
    allowLoopback: config(c.env).allowLoopbackReceivers,
  };
  const body = await readJson(c, largestBody);
  if (id !== undefined) refuseOther(body, id);
  return parseWebhook(body, policy, id === undefined ? WebhookInput : WebhookUpdate);
}

const webhookId = (c: Context): string => webhookIdIn(c.req.param('id'));

const presentTo = (c: Context, states?: Map<string, WebhookState>) => (webhook: StoredWebhook) => {
  const state = states?.get(webhook.id);
  const shown = { ...present(webhook), ...(state && { state }) };
  return c.get('token').readOnly ? withoutSecrets(shown) : shown;
};

/** Without what may be secret. */
const withoutSecrets = ({ oauth, ...webhook }: WebhookOutput): WebhookOutput => ({
  ...webhook,
  headers: {},
  ...(oauth && { oauth: pick(oauth, ['tokenUrl', 'clientId', 'scope']) }),
});

const present = ({
  createdAt,
  signingSecret,
  pausedAt,
  ...webhook
}: SavedWebhook): WebhookOutput => ({
  ...pick(webhook, ['id', ...fieldNames]),
  createdAt: timestamp(createdAt),
  ...(signingSecret !== undefined && { signingSecret }),
  ...(pausedAt !== undefined && { pausedAt: timestamp(pausedAt) }),
});
