import { Hono } from 'hono';
import { Refusal } from '../errors.ts';
import { readBytes } from '../http/body.ts';
import type { App, Context } from '../http/context.ts';
import { ok } from '../http/envelope.ts';
import { limitByAddress } from '../http/limits.ts';
import { ring } from './trigger.ts';

/** Where providers' webhooks ring (design 14): the call carries no data, it only makes a pull due. */
export const providerRoutes = new Hono<App>().post('/providers/:connectionId/webhook', takeCall);

const largestBody = 1024 * 1024;

async function takeCall(c: Context) {
  const body = await readBytes(c.req.raw, largestBody);
  const rung = await ring(c.env, c.req.param('connectionId') ?? '', c.req.raw.headers, body);
  if (rung) return ok(c, 'Pull is due', null);
  await limitByAddress(c, 'UNKNOWN_LIMIT');
  throw new Refusal({ kind: 'unauthenticated' });
}
