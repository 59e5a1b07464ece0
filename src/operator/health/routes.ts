import { Hono } from 'hono';
import { Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/context.ts';
import { ok } from '../../platform/http/envelope.ts';
import { limitByAddress } from '../../platform/http/limits.ts';
import { checkHomes, problemIn, warningIn } from './service.ts';

/** The sweep runs each minute: nothing improves sooner. */
const retryAfter = 60;

/**
 * Whether the service works, for monitors; needs no credential. Each request reads D1, so that the result is current; a
 * rate limit per address bounds the cost.
 */
export const healthRoutes = new Hono<App>().get('/health', async (c) => {
  await limitByAddress(c, 'HEALTH_LIMIT');
  const data = await checkHomes(c.env);
  const message = problemIn(data);
  if (message) throw new Refusal({ kind: 'unhealthy', message, retryAfter, data });
  return ok(c, warningIn(data) ?? 'Healthy', data);
});
