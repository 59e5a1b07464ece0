import { by, type Context, inPath } from '../../core/platform/http/context.ts';
import { deleteWebhook, setPaused } from '../../core/webhooks/service.ts';
import { findWebhook } from '../../core/webhooks/stored.ts';
import { WebhookUrl } from '../../ui/buttons.tsx';
import { confirmed } from '../../ui/forms/form-fields.tsx';
import { done } from '../../ui/submit.ts';
import { aboveOf, pathOf, titleOf, typesOf } from '../../ui/webhooks.ts';

export const remove = confirmed(async (c) => {
  const webhook = await inPath(c, findWebhook);
  return {
    title: 'Delete this webhook?',
    above: aboveOf(webhook),
    text: (
      <>
        <code>
          <WebhookUrl url={webhook.url} />
        </code>{' '}
        will no longer receive {typesOf(webhook)}. Pending deliveries are cancelled. Its charts and
        settings are deleted, too.
      </>
    ),
    does: () => deleteWebhook(...by(c), webhook.id),
    said: `Webhook "${titleOf(webhook)}" was deleted. No more deliveries will be sent.`,
    back: pathOf(webhook),
    next: '/portal/webhooks',
  };
});

const setsPaused = (isPaused: boolean, said: string) => async (c: Context) => {
  const { id } = await inPath(c, findWebhook);
  const webhook = await setPaused(...by(c), id, isPaused);
  return done(c, pathOf(webhook), said);
};

export const pause = setsPaused(true, 'Webhook paused. Deliveries wait until you resume it.');
export const resume = setsPaused(
  false,
  'Webhook resumed. Pending deliveries are being sent, accidents first.',
);
