import { connectorOf } from '../../providers/registry.ts';
import type { PullSummary } from '../../providers/status.ts';
import { Allowed, AskInstead } from '../ui/allowed.tsx';
import { Copyable } from '../ui/copyable.tsx';
import type { FormProblem } from '../ui/form.ts';
import { errorsOfForm, Field, Submit } from '../ui/forms.tsx';
import { Panel } from '../ui/parts.tsx';
import { State } from '../ui/states.tsx';

/** The provider's webhook, with which it has a connection pulled at once: what to enter there, and its secret. */
export const ProviderWebhook = (props: {
  path: string;
  url: string;
  pull: PullSummary;
  problem: FormProblem | undefined;
}) => {
  const { path, url, pull, problem } = props;
  const connector = connectorOf(pull.provider);
  if (!connector?.webhook) return null;
  const to = `${path}/webhook-secret`;
  const set = pull.hasWebhookSecret;
  return (
    <Panel
      id="provider-webhook"
      title={`Webhook of ${connector.name}`}
      side={set ? <State mood="ok">Secret set</State> : <State mood="quiet">Not set up</State>}
    >
      <div class="panel-body stack">
        <p>
          Optional. {connector.name} calls it when something happens, and we pull at once instead of within a
          minute. The call itself carries no data to us.
        </p>
        <div>
          <strong class="font-medium">URL</strong>
          <Copyable id="webhook-url" text={url} />
        </div>
        <ol class="numbered">
          {connector.webhook.steps.map((step) => (
            <li>{step}</li>
          ))}
        </ol>
        <Allowed to={to}>
          <form
            class="grid gap-4 items-start sm:grid-cols-[minmax(0,24rem)_auto]"
            method="post"
            action={to}
            novalidate
          >
            <Field
              name="secret"
              label={set ? 'New secret' : 'Secret'}
              type="password"
              autocomplete="off"
              hint={`As ${connector.name} shows it. Stored encrypted, and never shown again.`}
              errors={errorsOfForm(problem, 'secret')}
            />
            <div class="sm:pt-6.5">
              <Submit name="Save secret" weight="plain" />
            </div>
          </form>
        </Allowed>
        <AskInstead to={to} what="set its secret" />
      </div>
    </Panel>
  );
};
