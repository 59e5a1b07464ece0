import { Hono } from 'hono';
import { Refusal } from '../errors.ts';
import type { App } from '../http/context.ts';
import { ok } from '../http/envelope.ts';
import { limitUnknown } from '../http/limits.ts';
import { lookAtHealth, problemOf } from './service.ts';

/** The sweep comes round each minute: nothing is better sooner. */
const retryAfter = 60;

/**
 * Whether the service works, for monitors; open to everybody. Each look reads D1, so that it is told as things
 * are; the limit per address keeps it from being a lever.
 */
export const healthRoutes = new Hono<App>().get('/health', async (c) => {
  await limitUnknown(c);
  const data = await lookAtHealth(c.env);
  const message = problemOf(data);
  if (message) throw new Refusal({ kind: 'unhealthy', message, retryAfter, data });
  return ok(c, 'Healthy', data);
});
