import { config } from '../../platform/config.ts';
import type { Context } from '../../platform/http/context.ts';
import { parseWebhook } from '../../webhooks/schema.ts';
import { updateWebhook } from '../../webhooks/service.ts';
import { LinkButton, Submit } from '../ui/buttons.tsx';
import { done, submit } from '../ui/form.ts';
import { Field, Form } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Panel } from '../ui/parts.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, pathOf } from './words.ts';

/** The form of a webhook's OAuth 2 client. */
export async function show(c: Context) {
  const webhook = await requireWebhook(c);
  const { oauth } = webhook;
  return page(
    c,
    { title: 'OAuth 2', above: aboveOf(webhook), narrow: true },
    <Panel id="oauth" title={oauth ? 'Deliveries carry an access token' : 'Deliveries carry no access token'}>
      <Form look="panel-body grid gap-4">
        <p>
          Before it calls your receiver, the service gets an access token with client credentials, and sends
          it in the header <code>Authorization</code>. <a href="/docs/webhooks#oauth-2">How it works</a>
        </p>
        <Field
          name="oauth.tokenUrl"
          label="Token URL"
          required
          value={oauth?.tokenUrl}
          placeholder="https://login.example.com/oauth2/token"
        />
        <Field name="oauth.clientId" label="Client ID" required value={oauth?.clientId} autocomplete="off" />
        <Field
          name="oauth.clientSecret"
          label="Client secret"
          type="password"
          required={!oauth}
          autocomplete="off"
          hint={oauth && 'Leave empty to keep it. A new token URL or client ID needs it again.'}
        />
        <Field
          name="oauth.scope"
          label="Scope"
          value={oauth?.scope}
          hint="If your token endpoint needs one."
        />
        <div class="actions">
          <Submit name="Save" />
          {oauth && <Submit name="Send no token" does="remove" weight="danger" />}
          <LinkButton href={pathOf(webhook)} name="Cancel" weight="ghost" />
        </div>
      </Form>
    </Panel>,
  );
}

export async function change(c: Context) {
  const webhook = await requireWebhook(c);
  const { id, revision, signing: _, filters: __, oauth: ___, ...rest } = webhook;
  return submit(
    c,
    async (form) => {
      const removes = form.value('do') === 'remove';
      const field = (name: string) => form.value(`oauth.${name}`).trim();
      const [clientSecret, scope] = [field('clientSecret'), field('scope')];
      const client = {
        ...{ tokenUrl: field('tokenUrl'), clientId: field('clientId') },
        ...(clientSecret && { clientSecret }),
        ...(scope && { scope }),
      };
      const policy = {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      };
      const input = parseWebhook({ ...rest, oauth: removes ? null : client }, policy);
      await updateWebhook(c.env, c.get('caller'), id, input, { revision });
      return done(
        c,
        pathOf(webhook),
        removes ? 'Deliveries no longer carry a token.' : 'Deliveries carry an access token from now on.',
      );
    },
    () => show(c),
    'oauth.tokenUrl',
  );
}
