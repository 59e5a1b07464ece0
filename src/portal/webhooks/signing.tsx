import { invalid } from '../../platform/errors.ts';
import type { Context } from '../../platform/http/context.ts';
import { rotateSecret, updateWebhook } from '../../webhooks/service.ts';
import { done, readForm, submit } from '../ui/form.ts';
import { Submit } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { page } from '../ui/layout.tsx';
import { Copyable, Panel } from '../ui/parts.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, pathOf } from './words.ts';

/** Whether a webhook's deliveries are signed. `secret` is a new one, to be shown this once. */
export async function show(c: Context, secret?: string) {
  const webhook = await requireWebhook(c);
  return page(
    c,
    { title: 'Signed deliveries', above: aboveOf(webhook), narrow: true },
    <>
      {secret && <SecretNote secret={secret} />}
      <Panel id="signing" title={webhook.signing ? 'Deliveries are signed' : 'Deliveries are not signed'}>
        <form class="panel-body grid gap-3" method="post" action={`${pathOf(webhook)}/signing`}>
          <p>
            With a signature your receiver can verify that a call comes from this service and was not changed
            on the way. Signatures follow Standard Webhooks. <a href="/docs/signatures">How to verify one</a>
          </p>
          {webhook.signing ? (
            <>
              <p class="sub">
                After a rotation both secrets sign for 24 hours, so that you can replace yours without
                refusing a delivery.
              </p>
              <div class="flex flex-wrap gap-2">
                <Submit name="Rotate the secret" does="rotate" />
                <Submit name="Stop signing" does="off" weight="danger" />
              </div>
            </>
          ) : (
            <div>
              <Submit name="Sign deliveries" does="on" />
            </div>
          )}
        </form>
      </Panel>
    </>,
  );
}

/** Switches signatures on or off, or rotates the secret. */
export async function change(c: Context) {
  const webhook = await requireWebhook(c);
  const does = (await readForm(c)).value('do');
  const { id, revision } = webhook;
  return submit(
    async () => {
      if (does === 'rotate') return show(c, (await rotateSecret(c.env, c.get('caller'), id)).signingSecret);
      if (does !== 'on' && does !== 'off') throw invalid('Choose what to do');
      const input = { ...webhook, signing: does === 'on' };
      const { signingSecret } = await updateWebhook(c.env, c.get('caller'), id, input, { revision });
      return does === 'on'
        ? show(c, signingSecret)
        : done(c, pathOf(webhook), 'Deliveries of this webhook are no longer signed.');
    },
    ({ message }) => done(c, `${pathOf(webhook)}/signing`, message, 'bad'),
  );
}

/** A new secret: the only time that it is shown. */
const SecretNote = ({ secret }: { secret: string }) => (
  <section class="note note-ok" aria-labelledby="new-secret">
    <Icon name="key-round" />
    <div class="col-span-2">
      <h2 id="new-secret">Copy the signing secret now</h2>
      <p>This is the only time it is shown. Lost it? Rotate it.</p>
      <Copyable id="secret" text={secret} />
    </div>
  </section>
);
