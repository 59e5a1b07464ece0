import { invalid } from '../../core/platform/errors.ts';
import { by, type Context, inPath } from '../../core/platform/http/context.ts';
import { starter } from '../../core/webhooks/deliveries/consumer.ts';
import { ACCIDENT, EVENT, type NotificationType } from '../../core/webhooks/notifications/types.ts';
import { deleteWebhook, setPaused, updateWebhook } from '../../core/webhooks/service.ts';
import { findWebhook, type StoredWebhook } from '../../core/webhooks/stored.ts';
import { send } from '../../extras/delivery-log/pages/delivery.tsx';
import { tryNow } from '../../extras/delivery-log/replay.ts';
import { madeUp, sendTest } from '../../extras/delivery-log/simulate.ts';
import { rotateSecret } from '../../extras/signing/rotate.ts';
import { Submit, WebhookUrl } from '../../ui/buttons.tsx';
import { confirmed } from '../../ui/forms/form-fields.tsx';
import { Form } from '../../ui/forms/forms.tsx';
import { page } from '../../ui/layout.tsx';
import { Panel, ShownOnce } from '../../ui/parts.tsx';
import { secretPage } from '../../ui/secret.tsx';
import { done, submit } from '../../ui/submit.ts';
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

export async function tryAgain(c: Context) {
  const webhook = await inPath(c, findWebhook);
  return send(c, pathOf(webhook), 'Tried again. ', () => tryNow(...by(c), webhook.id));
}

const sends = (type: NotificationType, said: string) => async (c: Context) => {
  const webhook = await inPath(c, findWebhook);
  return send(c, pathOf(webhook), said, async () => {
    const made = madeUp({ type }, webhook);
    const start = starter(c.env, c.executionCtx);
    const sent = await sendTest(...by(c), c.get('requestId'), webhook, made, start);
    return { webhookId: webhook.id, id: sent.deliveryIds[0] ?? '' };
  });
};

export const sendEvent = sends(EVENT, 'Test event sent. ');
export const sendAccident = sends(
  ACCIDENT,
  'Level 1 of a test accident sent, levels 2 and 3 follow within six seconds. ',
);

/** The page of a webhook's signatures, whose buttons switch them on or off, or rotate the secret. */
export async function signing(c: Context) {
  const webhook = await inPath(c, findWebhook);
  const show = () => showSigning(c, webhook);
  if (c.req.method === 'GET') return show();
  const { id, revision } = webhook;
  const save = async (does: string) => {
    if (does === 'rotate') {
      const { signingSecret } = await rotateSecret(...by(c), id);
      return newSecretPage(c, 'The secret was rotated', webhook, signingSecret);
    }
    if (does !== 'on' && does !== 'off') throw invalid('Choose what to do');
    const input = { ...webhook, oauth: undefined, signing: does === 'on' };
    const { signingSecret } = await updateWebhook(...by(c), id, input, { revision });
    if (signingSecret !== undefined)
      return newSecretPage(c, 'Deliveries of this webhook are signed now', webhook, signingSecret);
    const said = input.signing ? 'are signed already' : 'are no longer signed';
    return done(c, pathOf(webhook), `Deliveries of this webhook ${said}.`);
  };
  return submit(c, async (form) => save(form.value('do')), show);
}

/** The page with a new signing secret. */
export const newSecretPage = (c: Context, said: string, webhook: { id: string }, secret: string) =>
  secretPage(
    c,
    said,
    pathOf(webhook),
    <ShownOnce id="secret" title="Copy the signing secret now" value={secret}>
      This is the only time it is shown. Lost it? Rotate it.
    </ShownOnce>,
  );

function showSigning(c: Context, webhook: StoredWebhook) {
  return page(
    c,
    { title: 'Signed deliveries', above: aboveOf(webhook), narrow: true },
    <Panel title={webhook.signing ? 'Deliveries are signed' : 'Deliveries are not signed'}>
      <Form look="panel-body grid gap-3">
        <p>
          A signature lets your receiver verify that a call comes from this service and was not
          changed on the way. Signatures follow Standard Webhooks. After a rotation both secrets
          sign for 24 hours. <a href="/docs/signatures">How to verify one</a>
        </p>
        <div class="actions">
          {!webhook.signing && <Submit name="Sign deliveries" does="on" />}
          {webhook.signing && <Submit name="Rotate the secret" does="rotate" />}
          {webhook.signing && <Submit name="Stop signing" does="off" weight="danger" />}
        </div>
      </Form>
    </Panel>,
  );
}
