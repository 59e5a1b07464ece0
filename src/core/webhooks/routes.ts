import { Hono } from 'hono';
import { authenticate } from '../accounts/tokens/authenticate.ts';
import { config } from '../platform/config.ts';
import { parseQuery, timestamp } from '../platform/fields.ts';
import { readJson, readNothing, refuseOther } from '../platform/http/body.ts';
import { type App, by, type Context, ok } from '../platform/http/context.ts';
import { pick } from './fields.ts';
import { options } from './options.ts';
import {
  parseWebhook,
  type WebhookOutput,
  WebhookQuery,
  type WebhookState,
  webhookInput,
  webhookOutput,
  webhookUpdate,
} from './schema.ts';
import {
  createWebhook,
  deleteWebhook,
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
  return parseWebhook(body, policy, id === undefined ? webhookInput() : webhookUpdate());
}

const webhookId = (c: Context): string => webhookIdIn(c.req.param('id'));

function presentTo(c: Context, states?: Map<string, WebhookState>) {
  const names = shownNames();
  return (webhook: StoredWebhook) => {
    const shown = present(webhook, states?.get(webhook.id), names);
    return c.get('token').readOnly ? withoutSecrets(shown) : shown;
  };
}

/** Without what may be secret. */
const withoutSecrets = (webhook: WebhookOutput): WebhookOutput =>
  Object.assign(
    { ...webhook, headers: {} },
    ...options().map((option) => option.withoutSecrets?.(webhook)),
  );

const shownNames = () => Object.keys(webhookOutput().entries) as (keyof WebhookOutput)[]; // its own

function present(
  { createdAt, pausedAt, ...webhook }: SavedWebhook,
  state?: WebhookState,
  names = shownNames(),
): WebhookOutput {
  const others = {
    createdAt: timestamp(createdAt),
    ...(pausedAt !== undefined && { pausedAt: timestamp(pausedAt) }),
    ...(state && { state }),
  };
  return pick({ ...webhook, ...others }, names);
}
