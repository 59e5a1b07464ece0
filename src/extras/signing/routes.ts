import { Hono } from 'hono';
import { authenticate } from '../../core/accounts/tokens/authenticate.ts';
import { readNothing } from '../../core/platform/http/body.ts';
import { type App, by, type Context, ok } from '../../core/platform/http/context.ts';
import { webhookIdIn } from '../../core/webhooks/stored.ts';
import { rotateSecret } from './rotate.ts';

export const signingRoutes = new Hono<App>().post(
  '/webhook/:id/signing-secret',
  authenticate('api'),
  rotate,
);

async function rotate(c: Context) {
  await readNothing(c);
  const secret = await rotateSecret(...by(c), webhookIdIn(c.req.param('id')));
  return ok(c, 'Signing secret rotated', secret);
}
