import { Hono } from 'hono';
import type { App, Context } from '../http/context.ts';
import { seeOther } from '../http/redirect.ts';
import { deleteWebhook } from '../webhooks/service.ts';
import { sendTest, testAccident, testEvent } from '../webhooks/simulate.ts';
import { limitActions } from './action-limit.ts';
import { Confirm } from './components.tsx';
import { page } from './layout.tsx';
import { pathOf, requireWebhook } from './webhook.tsx';
import { typesOf } from './webhooks.tsx';

/** What can be done with a webhook besides editing it. */
export const webhookActions = new Hono<App>()
  .get('/webhooks/:id/delete', confirmDelete)
  .post('/webhooks/:id/delete', remove)
  .post('/webhooks/:id/test-event', limitActions, (c) => test(c, testEvent))
  .post('/webhooks/:id/test-accident', limitActions, (c) => test(c, testAccident));

async function confirmDelete(c: Context) {
  const webhook = await requireWebhook(c);
  return page(
    c,
    'Delete this webhook?',
    <Confirm to={c.req.path} confirm="Delete" back={pathOf(webhook)} cancel="Keep it">
      <code>{webhook.url}</code> will no longer receive {typesOf(webhook)}. Pending deliveries will be
      cancelled.
    </Confirm>,
  );
}

async function remove(c: Context) {
  const { id } = await requireWebhook(c);
  await deleteWebhook(c.env, c.get('caller'), id);
  return seeOther(c, '/portal/webhooks');
}

async function test(c: Context, make: typeof testAccident) {
  const webhook = await requireWebhook(c);
  await sendTest(c.env, c.get('caller'), c.get('requestId'), webhook, make(webhook));
  return seeOther(c, pathOf(webhook));
}
