import { Hono } from 'hono';
import { operatorInOwnerOf } from '../../accounts/owner.ts';
import { invalid } from '../../platform/errors.ts';
import { parse } from '../../platform/fields.ts';
import { readJson } from '../../platform/http/body.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { ok } from '../../platform/http/envelope.ts';
import { replaceCredential } from '../../providers/connect.ts';
import { pausePull, pullNow, resumePull, setWebhookSecret } from '../../providers/manage.ts';
import { type PullStatus, pullStatus } from '../../providers/status.ts';
import { NewCredential, WebhookSecret } from '../schema.ts';
import { presentPull } from './replies.ts';

/** What operators do with connections that pull from a provider. Each replies with how the connection is doing. */
export const pullRoutes = new Hono<App>()
  .get('/:id/pull', async (c) => ok(c, 'Pull', presentPull(await found(c))))
  .post('/:id/pull', async (c) => act(c, 'Pull is due', pullNow))
  .post('/:id/pause', async (c) => act(c, 'Paused', pausePull))
  .post('/:id/resume', async (c) => act(c, 'Resumed', resumePull))
  .put('/:id/credential', newCredential)
  .put('/:id/webhook-secret', newSecret);

const id = (c: Context): string => c.req.param('id') ?? '';
const body = (c: Context) => readJson(c, 64 * 1024);
const callerOf = (c: Context) => operatorInOwnerOf(c.env, 'connection', id(c));

async function found(c: Context): Promise<PullStatus> {
  const status = await pullStatus(c.env, await callerOf(c), id(c));
  if (!status) throw invalid('This connection does not pull from a provider');
  return status;
}

async function act(c: Context, message: string, action: typeof pullNow) {
  await action(c.env, await callerOf(c), id(c));
  return ok(c, message, presentPull(await found(c)));
}

async function newCredential(c: Context) {
  const { credential, baseUrl } = parse(NewCredential, await body(c));
  const before = await found(c);
  const pull = { id: id(c), provider: before.provider, baseUrl: baseUrl ?? before.baseUrl };
  await replaceCredential(c.env, await callerOf(c), pull, credential);
  return ok(c, 'Credential replaced', presentPull(await found(c)));
}

async function newSecret(c: Context) {
  const { secret } = parse(WebhookSecret, await body(c));
  await setWebhookSecret(c.env, await callerOf(c), id(c), secret);
  return ok(c, 'Webhook secret saved', presentPull(await found(c)));
}
