import { Hono } from 'hono';
import { Refusal } from '../platform/errors.ts';
import { askHomes } from '../platform/homes/each.ts';
import { readBytes } from '../platform/http/body.ts';
import type { App, Context } from '../platform/http/context.ts';
import { ok } from '../platform/http/envelope.ts';
import { limitByAddress, refuseIfOver } from '../platform/http/limits.ts';
import { ring } from './trigger.ts';

/** Where providers' webhooks ring: the call carries no data, it only makes a pull due. */
export const providerRoutes = new Hono<App>().post('/providers/:connectionId/webhook', takeCall);

export const largestBody = 1024 * 1024;

async function takeCall(c: Context) {
  refuseIfOver(c, 'UNKNOWN_LIMIT');
  const body = await readBytes(c.req.raw, largestBody);
  const id = c.req.param('connectionId') ?? '';
  const asked = await askHomes(c.env, (home) => ring(home, id, c.req.raw.headers, body));
  const rung = asked.some(([, hasRung]) => hasRung);
  if (rung) return ok(c, 'Pull is due', null);
  await limitByAddress(c, 'UNKNOWN_LIMIT');
  throw new Refusal({ kind: 'unauthenticated' });
}
