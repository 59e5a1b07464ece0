import { invalid } from '../../platform/errors.ts';
import type { Context } from '../../platform/http/context.ts';
import { rotateSecret, updateWebhook } from '../../webhooks/service.ts';
import { Submit } from '../ui/buttons.tsx';
import { done, submit } from '../ui/form.ts';
import { Form } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Panel, ShownOnce } from '../ui/parts.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, pathOf } from './words.ts';

/** The page of a webhook's signatures. `secret` is a new one, shown only once. */
export async function show(c: Context, secret?: string) {
  const webhook = await requireWebhook(c);
  return page(
    c,
    { title: 'Signed deliveries', above: aboveOf(webhook), narrow: true },
    <>
      {secret && (
        <ShownOnce id="secret" title="Copy the signing secret now" value={secret}>
          This is the only time it is shown. Lost it? Rotate it.
        </ShownOnce>
      )}
      <Panel id="signing" title={webhook.signing ? 'Deliveries are signed' : 'Deliveries are not signed'}>
        <Form look="panel-body grid gap-3">
          <p>
            A signature lets your receiver verify that a call comes from this service and was not changed on
            the way. Signatures follow Standard Webhooks. <a href="/docs/signatures">How to verify one</a>
          </p>
          {webhook.signing && (
            <p class="sub">
              After a rotation both secrets sign for 24 hours, so that you can replace yours without rejecting
              a delivery.
            </p>
          )}
          <div class="actions">
            {!webhook.signing && <Submit name="Sign deliveries" does="on" />}
            {webhook.signing && <Submit name="Rotate the secret" does="rotate" />}
            {webhook.signing && <Submit name="Stop signing" does="off" weight="danger" />}
          </div>
        </Form>
      </Panel>
    </>,
  );
}

/** Switches signatures on or off, or rotates the secret. */
export async function change(c: Context) {
  const webhook = await requireWebhook(c);
  const { id, revision } = webhook;
  return submit(
    c,
    async (form) => {
      const does = form.value('do');
      if (does === 'rotate') return show(c, (await rotateSecret(c.env, c.get('caller'), id)).signingSecret);
      if (does !== 'on' && does !== 'off') throw invalid('Choose what to do');
      const input = { ...webhook, oauth: undefined, signing: does === 'on' };
      const { signingSecret } = await updateWebhook(c.env, c.get('caller'), id, input, { revision });
      return does === 'on'
        ? show(c, signingSecret)
        : done(c, pathOf(webhook), 'Deliveries of this webhook are no longer signed.');
    },
    ({ message }) => done(c, `${pathOf(webhook)}/signing`, message, 'bad'),
  );
}
