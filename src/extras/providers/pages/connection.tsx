import type { Connection } from '../../../core/fleet/connections.ts';
import { config } from '../../../core/platform/config.ts';
import { by, type Context } from '../../../core/platform/http/context.ts';
import { withCell } from '../../../people/secrets.ts';
import type { OnConnection } from '../../../ui/added.ts';
import { Breakable } from '../../../ui/breakable.tsx';
import { LinkButton, PostButton, Submit } from '../../../ui/buttons.tsx';
import { drawn } from '../../../ui/forms/form-fields.tsx';
import { Form } from '../../../ui/forms/forms.tsx';
import { connectionPath } from '../../../ui/lists/records.tsx';
import { Copyable, Panel, State } from '../../../ui/parts.tsx';
import { Ago, Time } from '../../../ui/time.tsx';
import { connectorOf } from '../registry.ts';
import { type PullStatus, pullStatus } from '../status.ts';
import { webhookSecret } from './actions.ts';
import { Feeds } from './feeds.tsx';
import { PulledProblems } from './problems.tsx';
import { replacing } from './pulled.tsx';

/** What it adds to the page of a connection that pulls. */
export async function onConnection(c: Context, { id }: Connection): Promise<OnConnection> {
  const pull = await pullStatus(...by(c), id);
  if (!pull) return {};
  const path = connectionPath({ id });
  const { origin } = new URL(c.req.url);
  const calledAt = `${config(c.env).origin ?? origin}/providers/${withCell(c.env, id)}/webhook`;
  const isWithdrawn = pull.state === 'withdrawn';
  const { lastPulledAt, nextAt, baseUrl, organisation } = pull;
  return {
    owner: organisation,
    actions: <Steering path={path} state={pull.state} />,
    links: !isWithdrawn && <LinkButton {...replacing(id, pull)} icon="key-round" weight="ghost" />,
    above: <Feeds pull={pull} />,
    facts: [
      ['Organization', organisation],
      ['Last pulled', lastPulledAt === null ? 'Not yet' : <Ago at={lastPulledAt} />],
      ['Next pull', nextAt && (nextAt <= Date.now() ? 'Now' : <Time at={nextAt} />)],
      [
        'API',
        <code>
          <Breakable text={new URL(baseUrl).host} />
        </code>,
      ],
    ],
    forms: !isWithdrawn && <ProviderWebhook path={path} url={calledAt} pull={pull} />,
    below: <PulledProblems pull={pull} />,
  };
}

const Steering = ({ path, state }: { path: string; state: PullStatus['state'] }) => {
  if (state === 'withdrawn') return null;
  if (state === 'paused')
    return <PostButton to={`${path}/resume`} name="Resume" icon="play" weight="primary" />;
  return (
    <>
      <PostButton to={`${path}/pull`} name="Pull now" icon="refresh-cw" />
      <PostButton to={`${path}/pause`} name="Pause" icon="pause" />
    </>
  );
};

const ProviderWebhook = ({ path, url, pull }: { path: string; url: string; pull: PullStatus }) => {
  const connector = connectorOf(pull.provider);
  if (!connector?.webhook) return null;
  const set = pull.hasWebhookSecret;
  return (
    <Panel
      title={`${connector.name} webhook`}
      side={set ? <State mood="ok">Secret set</State> : <State mood="quiet">Not set up</State>}
      body="stack"
    >
      <p>
        Optional. {connector.name} calls it when something happens, and we pull immediately instead
        of within a minute. The call itself carries no data.
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
      <Form
        to={`${path}/webhook-secret`}
        look="grid gap-4 items-start sm:grid-cols-[minmax(0,24rem)_auto]"
      >
        {drawn(webhookSecret(connector.name, set))}
        <div class="sm:pt-6.5">
          <Submit name="Save secret" weight="plain" />
        </div>
      </Form>
    </Panel>
  );
};
