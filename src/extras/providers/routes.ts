import { Hono } from 'hono';
import { refuseIfMoved } from '../../core/accounts/accounts.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { readBytes } from '../../core/platform/http/body.ts';
import { type App, type Context, ok } from '../../core/platform/http/context.ts';
import { addressOf, limit, refuseIfOver } from '../../core/platform/http/limits.ts';
import { secretIn } from '../../people/secrets.ts';
import { handleProviderWebhook } from './store.ts';

/** Where providers' webhooks call. Their content is ignored: a call only makes a pull due. */
export const providerRoutes = new Hono<App>().post('/providers/:connectionId/webhook', takeCall);

const idLength = 36;

export const largestBody = 1024 * 1024;

/** Invalid calls are limited by connection, since all of a provider's customers share its address. */
async function takeCall(c: Context) {
  const id = secretIn(c.req.param('connectionId') ?? '');
  const address = addressOf(c);
  const caller = `${address} ${id.slice(0, idLength)}`;
  refuseIfOver('PROVIDER_CALL_LIMIT', address);
  refuseIfOver('UNKNOWN_LIMIT', caller);
  refuseIfOver('TOKEN_LIMIT', id);
  const body = await readBytes(c.req.raw, largestBody);
  if (await handleProviderWebhook(c.env, id, c.req.raw.headers, body)) {
    await limit(c.env, 'TOKEN_LIMIT', id);
    return ok(c, 'Pull is due', null);
  }
  await limit(c.env, 'UNKNOWN_LIMIT', caller);
  await limit(c.env, 'PROVIDER_CALL_LIMIT', address);
  await refuseIfMoved(c.env);
  throw new Refusal({ kind: 'unauthenticated' });
}
