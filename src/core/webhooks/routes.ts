import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { authenticate, limitActions } from '../accounts/tokens/authenticate.ts';
import { config } from '../platform/config.ts';
import { invalid } from '../platform/errors.ts';
import { parse, timestamp } from '../platform/fields.ts';
import { readJson, readNothing, refuseOther, refuseParameters } from '../platform/http/body.ts';
import { type App, by, type Context, ok } from '../platform/http/context.ts';
import { rangeOf } from '../platform/query.ts';
import { starter } from './deliveries/consumer.ts';
import { countReplayable, replay } from './deliveries/read/replay.ts';
import { ReplayInput, type ReplayOutcome } from './deliveries/read/schema.ts';
import { fieldNames, pick } from './fields.ts';
import {
  parseWebhook,
  TestInput,
  WebhookInput,
  type WebhookOutput,
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
import { madeUp, sendTest } from './simulate.ts';
import { findWebhook, listWebhooks, type StoredWebhook } from './stored.ts';

export const webhookRoutes = new Hono<App>()
  .get('/webhooks', authenticate('api'), list)
  .post('/webhook', authenticate('api'), create)
  .get('/webhook/:id', authenticate('api'), item)
  .put('/webhook/:id', authenticate('api'), update)
  .delete('/webhook/:id', authenticate('api'), remove)
  .post('/webhook/:id/signing-secret', authenticate('api'), rotate)
  .post('/webhook/:id/replay', authenticate('api'), limitActions, replayMissed)
  .post('/webhook/:id/test', authenticate('api'), limitActions, test)
  .post('/webhook/:id/pause', authenticate('api'), pausing(true))
  .post('/webhook/:id/resume', authenticate('api'), pausing(false));

export const largestBody = 64 * 1024;

async function list(c: Context) {
  refuseParameters(c);
  const webhooks = await listWebhooks(...by(c));
  return ok(c, 'Webhooks', webhooks.map(presentTo(c)));
}

async function item(c: Context) {
  refuseParameters(c);
  return ok(c, 'Webhook', presentTo(c)(await requireWebhook(c)));
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

/** Replays what a webhook has missed, or counts it. */
async function replayMissed(c: Context) {
  const { dryRun, from, to, ...rest } = parse(ReplayInput, await readJson(c, largestBody));
  const { id } = await requireWebhook(c);
  const span = rangeOf(from, to);
  const selection = { ...rest, since: span.from, until: span.to };
  if (dryRun) return ok(c, 'Counted', await countReplayable(...by(c), id, selection));
  const { replayed, ...others } = await replay(...by(c), id, selection);
  return ok(c, 'Replayed', { count: replayed, ...others } satisfies ReplayOutcome);
}

async function test(c: Context) {
  const input = parse(TestInput, await readJson(c, largestBody));
  const webhook = await requireWebhook(c);
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

function pausing(paused: boolean) {
  return async (c: Context) => {
    await readNothing(c);
    const webhook = await setPaused(...by(c), webhookId(c), paused);
    return ok(c, `Webhook ${paused ? 'paused' : 'resumed'}`, present(webhook));
  };
}

async function requireWebhook(c: Context): Promise<StoredWebhook> {
  const webhook = await findWebhook(...by(c), webhookId(c));
  if (!webhook) throw invalid('Invalid webhook id');
  return webhook;
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

function webhookId(c: Context): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw invalid('Invalid webhook id');
  return id.toLowerCase();
}

const presentTo = (c: Context) => (webhook: StoredWebhook) =>
  c.get('token').readOnly ? withoutSecrets(present(webhook)) : present(webhook);

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
