import { Hono } from 'hono';
import { Refusal } from '../platform/errors.ts';
import { askHomes } from '../platform/homes/each.ts';
import { readBytes } from '../platform/http/body.ts';
import type { App, Context } from '../platform/http/context.ts';
import { ok } from '../platform/http/envelope.ts';
import { addressOf, limit, refuseIfOver } from '../platform/http/limits.ts';
import { ring } from './trigger.ts';

/** Where providers' webhooks ring: the call carries no data, it only makes a pull due. */
export const providerRoutes = new Hono<App>().post('/providers/:connectionId/webhook', takeCall);

const idLength = 36;

export const largestBody = 1024 * 1024;

/** Wrong calls count by connection: a provider's address is behind the connections of all its customers. */
async function takeCall(c: Context) {
  const id = c.req.param('connectionId') ?? '';
  const address = addressOf(c);
  const caller = `${address} ${id.slice(0, idLength)}`;
  refuseIfOver('RING_LIMIT', address);
  refuseIfOver('UNKNOWN_LIMIT', caller);
  const body = await readBytes(c.req.raw, largestBody);
  const asked = await askHomes(c.env, (home) => ring(home, id, c.req.raw.headers, body));
  const rung = asked.some(([, hasRung]) => hasRung);
  if (rung) return ok(c, 'Pull is due', null);
  await limit(c.env, 'UNKNOWN_LIMIT', caller);
  await limit(c.env, 'RING_LIMIT', address);
  throw new Refusal({ kind: 'unauthenticated' });
}
