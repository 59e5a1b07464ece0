import { Hono } from 'hono';
import { invalid } from '../../core/platform/errors.ts';
import { type App, by, type Context, inPath } from '../../core/platform/http/context.ts';
import { options } from '../../core/webhooks/options.ts';
import { updateWebhook } from '../../core/webhooks/service.ts';
import { findWebhook, type StoredWebhook } from '../../core/webhooks/stored.ts';
import type { Pages } from '../../ui/added.ts';
import { LinkButton, Submit } from '../../ui/buttons.tsx';
import { box, drawn, valuesIn } from '../../ui/forms/form-fields.tsx';
import { Form } from '../../ui/forms/forms.tsx';
import { page } from '../../ui/layout.tsx';
import { Panel, ShownOnce } from '../../ui/parts.tsx';
import { secretPage } from '../../ui/secret.tsx';
import { limited, role } from '../../ui/session/rights.ts';
import { done, submit } from '../../ui/submit.ts';
import { aboveOf, pathOf } from '../../ui/webhooks.ts';
import { rotateSecret } from './rotate.ts';

/** The page of a webhook's signatures, whose buttons switch them on or off, or rotate the secret. */
async function showOrSave(c: Context) {
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
    const input = { ...webhook, ...unchanged(), signing: does === 'on' };
    const { signingSecret } = await updateWebhook(...by(c), id, input, { revision });
    if (signingSecret !== undefined)
      return newSecretPage(c, 'Deliveries of this webhook are signed now', webhook, signingSecret);
    const said = input.signing ? 'are signed already' : 'are no longer signed';
    return done(c, pathOf(webhook), `Deliveries of this webhook ${said}.`);
  };
  return submit(c, async (form) => save(form.value('do')), show);
}

/** Options that are left out stay as they are. */
const unchanged = () => Object.fromEntries(options().map(({ name }) => [name, undefined]));

/** The page with a new signing secret. */
const newSecretPage = (c: Context, said: string, webhook: { id: string }, secret: string) =>
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

/** Of a new webhook. Later, the page about its signatures changes it. */
const fields = {
  signing: box(
    'Sign deliveries',
    'Lets your receiver verify that a call comes from this service. The next page shows the secret, once.',
  ),
};

export const pages: Pages = {
  routes: new Hono<App>()
    .get('/webhooks/:id/signing', role('member'), showOrSave)
    .post('/webhooks/:id/signing', role('member'), limited, showOrSave),
  forms: ['signing'],
  webhook: async (_, reading) => {
    const webhook = await reading;
    return {
      settings: (
        <LinkButton
          href={`${pathOf(webhook)}/signing`}
          name="Signatures"
          icon="shield-check"
          weight="ghost"
        />
      ),
      facts: [['Signature', webhook.signing ? 'Signed' : 'None']],
    };
  },
  webhookForm: {
    draw: async (_, reading) => ({
      section: !(await reading) && drawn(fields, { signing: true }),
      verified: { by: 'the signature', unless: 'unless deliveries are signed' },
    }),
    bodyOf: (form, webhook) => (webhook ? {} : valuesIn(fields, form)),
    shownOnce: (c, said, { id, signingSecret }) =>
      signingSecret === undefined ? undefined : newSecretPage(c, said, { id }, signingSecret),
  },
  callHeaders: ({ signing }, { id, at }) =>
    signing
      ? {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at / 1000)),
          'webhook-signature': 'v1,…',
        }
      : {},
};
