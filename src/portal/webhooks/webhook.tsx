import { type Context, inPath } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import type { StoredWebhook } from '../../core/webhooks/stored.ts';
import { listed } from '../../texts/words.ts';
import { added } from '../../ui/added.ts';
import type { OnWebhook } from '../../ui/added-to-webhooks.ts';
import { Allowed, LinkButton, MoreActions, PostButton, WebhookUrl } from '../../ui/buttons.tsx';
import { page } from '../../ui/layout.tsx';
import { type FactList, Facts, Panel, State } from '../../ui/parts.tsx';
import { Time } from '../../ui/time.tsx';
import { aboveOf, pathOf, titleOf, typesOf } from '../../ui/webhooks.ts';
import { findNamed, type NamedWebhook } from '../read/read-webhooks.ts';
import { conditionOf } from './webhooks.tsx';

/** The page of a webhook. */
export async function detail(c: Context) {
  const reading = inPath(c, findNamed);
  const [webhook, ...more] = await Promise.all([
    reading,
    ...added(c, 'webhook').map((part) => part(c, reading)),
  ]);
  const { allConnections, connectionIds, connections, pausedAt } = webhook;
  const known = conditionOf({
    isPaused: pausedAt !== undefined,
    connections: connectionIds.length,
  });
  const condition = more.reduce((found, part) => part.conditionOf?.(found) ?? found, known);
  const from = allConnections ? 'all connections' : listed(connections) || 'no connection';
  return page(
    c,
    {
      title: titleOf(webhook),
      above: aboveOf(),
      state: <State {...condition} />,
      lead: (
        <>
          <code>
            {webhook.httpVerb} <WebhookUrl url={webhook.url} />
          </code>
          <br />
          {webhook.description ?? `${capital(typesOf(webhook))} from ${from}`}
        </>
      ),
      actions: <Actions webhook={webhook} more={more} />,
    },
    <div class="stack" data-live>
      {more.map(({ above }) => above)}
      <Configuration webhook={webhook} more={more.flatMap(({ facts = [] }) => facts)} />
    </div>,
  );
}

const Actions = ({ webhook, more }: { webhook: StoredWebhook; more: OnWebhook[] }) => {
  const { pausedAt } = webhook;
  const path = pathOf(webhook);
  return (
    <>
      {more.map(({ actions }) => actions)}
      {pausedAt && <PostButton to={`${path}/resume`} name="Resume" icon="play" weight="primary" />}
      <LinkButton href={`${path}/edit`} name="Edit" icon="pencil" />
      <Allowed to={`${path}/delete`}>
        <MoreActions>
          {more.map(({ firstLinks }) => firstLinks)}
          {!pausedAt && (
            <PostButton to={`${path}/pause`} name="Pause" icon="pause" weight="ghost" />
          )}
          {more.map(({ links }) => links)}
          {more.map(({ settings }) => settings)}
          <LinkButton href={`${path}/delete`} name="Delete" icon="trash" weight="ghost danger" />
        </MoreActions>
      </Allowed>
    </>
  );
};

const Configuration = ({ webhook, more }: { webhook: NamedWebhook; more: FactList }) => {
  const { allConnections, headers } = webhook;
  const connections = listed(webhook.connections) || 'None, so nothing is sent';
  const secrets = Object.keys(headers).map((name) => (
    <div>
      <code>{name}</code> <span class="sub">value hidden</span>
    </div>
  ));
  return (
    <Panel
      title="Configuration"
      body
      foot={<a href="/docs/reliability#what-counts-as-delivered">How deliveries are retried</a>}
      side={
        <Allowed to={`${pathOf(webhook)}/edit`} method="GET">
          <a href={`${pathOf(webhook)}/edit`}>Edit</a>
        </Allowed>
      }
    >
      <Facts
        facts={[
          ['Types', capital(typesOf(webhook))],
          ['Connections', [allConnections && 'All, including new ones: ', connections]],
          [
            'Headers',
            secrets.length > 0 ? secrets : 'None: your receiver cannot verify who is calling',
          ],
          ...merged(more),
          ['Added', <Time at={webhook.createdAt} />],
          ['ID', <code class="text-xs">{webhook.id}</code>],
        ]}
      />
    </Panel>
  );
};

/** Facts of which those of the same name are one. */
const merged = (facts: FactList): FactList =>
  [...Map.groupBy(facts, ([name]) => name)].map(([name, same]) => [
    name,
    same.length === 1 ? same[0]?.[1] : same.map(([, value]) => value),
  ]);
