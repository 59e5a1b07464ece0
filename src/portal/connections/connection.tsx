import * as v from 'valibot';
import { listTokens } from '../../core/accounts/tokens/service.ts';
import { connectionName } from '../../core/fleet/connections.ts';
import { config } from '../../core/platform/config.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { by, type Context, orNotFound } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { newsMs } from '../../core/webhooks/notifications/types.ts';
import {
  connectionRecords,
  maxRecordsCounted,
  type RecordCount,
  unmappedWords,
} from '../../extras/activity/activity.ts';
import { type CoveredConnection, findCovered } from '../../extras/alerts/coverage.ts';
import { NobodyNotified } from '../../extras/alerts/pages/coverage.tsx';
import { connectorOf } from '../../extras/providers/registry.ts';
import { type PullStatus, pullStatus } from '../../extras/providers/status.ts';
import { withCell } from '../../people/secrets.ts';
import { cappedCount, counted } from '../../texts/words.ts';
import { added } from '../../ui/added.ts';
import { Breakable } from '../../ui/breakable.tsx';
import { LinkButton, MoreActions, PostButton, Submit } from '../../ui/buttons.tsx';
import { drawn, line } from '../../ui/form-fields.tsx';
import { Form } from '../../ui/forms.tsx';
import { page } from '../../ui/layout.tsx';
import { Copyable, Facts, Live, Note, Panel, State } from '../../ui/parts.tsx';
import { type Column, naming, TablePanel } from '../../ui/table.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { above, pathOf } from './connections.tsx';
import { Feeds } from './feeds.tsx';
import { credentialLabel, Health, healthOf } from './health.tsx';
import { Labels } from './labels.tsx';
import { IngestKeys } from './own.tsx';
import { PulledProblems } from './problems.tsx';

/** The page of the connection in the path. @throws Refusal: not found, also for another account's */
export async function showConnection(c: Context) {
  const id = c.req.param('id') ?? '';
  const [stored, records, pull, keys] = await Promise.all([
    findCovered(...by(c), id),
    connectionRecords(...by(c), id),
    pullStatus(...by(c), id),
    listTokens(...by(c), { limit: 100 }, { connectionId: id }),
  ]);
  const connection = orNotFound(stored);
  const [unmapped, more] = await Promise.all([
    pull ? pull.unmapped : unmappedWords(...by(c), connection),
    Promise.all(added(c, 'connection').map((part) => part(c, connection))),
  ]);
  const hasData = records.some(({ count }) => count > 0);
  const health = healthOf(connection, pull, hasData);
  const isRefused = pull?.state === 'refused';
  const name = connectionName(connection);
  const path = pathOf(connection);
  const { origin } = new URL(c.req.url);
  const calledAt = `${config(c.env).origin ?? origin}/providers/${withCell(c.env, id)}/webhook`;
  const replace = {
    href: `${path}/credential`,
    name: `Replace the ${credentialLabel(connection)}`,
  };
  return page(
    c,
    {
      title: name,
      above,
      state: <Health health={health} />,
      lead: [
        connection.tsp !== name && connection.tsp,
        pull && pull.organisation !== name && `“${pull.organisation}”`,
      ]
        .filter(Boolean)
        .join(', '),
      actions: (
        <>
          {pull && <Steering path={path} state={pull.state} />}
          <MoreActions>
            {pull && pull.state !== 'withdrawn' && (
              <LinkButton {...replace} icon="key-round" weight="ghost" />
            )}
            <LinkButton href={`${path}/remove`} name="Remove" icon="trash" weight="ghost danger" />
          </MoreActions>
        </>
      ),
    },
    <>
      <Live id="health-now">
        {health.note && (
          <Note mood={health.mood} side={isRefused && <LinkButton {...replace} weight="primary" />}>
            {health.note} {!pull && 'A connector sends its data: ask whoever runs that.'}
          </Note>
        )}
        {!connection.isCovered && pull?.state !== 'paused' && pull?.state !== 'withdrawn' && (
          <NobodyNotified ends={`${path}/warning`} />
        )}
      </Live>
      {pull && <Feeds pull={pull} />}
      <div class="cols cols-3-2">
        <TablePanel
          title="Records"
          side={<a href={`/portal/events?connection=${id}`}>Safety events</a>}
          foot={`Counts stop at ${maxRecordsCounted.toLocaleString('en')}, and leave out archived records.`}
          live
          labels
          columns={recordColumns}
          items={records}
        />
        <Details connection={connection} pull={pull} />
      </div>
      {more.map(({ forms }) => forms)}
      <IngestKeys path={path} keys={keys.items} isSent={!pull} />
      {pull && pull.state !== 'withdrawn' && (
        <ProviderWebhook path={path} url={calledAt} pull={pull} />
      )}
      <Labels path={path} unmapped={unmapped} connection={connection} />
      <PulledProblems pull={pull} />
      {more.map(({ below }) => below)}
    </>,
  );
}

type Both = { connection: CoveredConnection; pull: PullStatus | undefined };

const Details = ({ connection, pull }: Both) => (
  <Panel title="Details" body live>
    <Facts
      facts={[
        ['Provider', <code>{connection.provider}</code>],
        ['Organization', pull?.organisation],
        [
          'Last pulled',
          pull && (pull.lastPulledAt === null ? 'Not yet' : <Ago at={pull.lastPulledAt} />),
        ],
        [
          'Next pull',
          pull?.nextAt && (pull.nextAt <= Date.now() ? 'Now' : <Time at={pull.nextAt} />),
        ],
        [
          'API',
          pull && (
            <code>
              <Breakable text={new URL(pull.baseUrl).host} />
            </code>
          ),
        ],
        ['Name in deliveries', connection.tsp],
        [
          'Held back',
          connection.heldBackAt && <HeldBack {...connection} at={connection.heldBackAt} />,
        ],
        ['External ID', connection.externalId],
        [
          'Accidents',
          connection.notifiesNobody && (
            <Form to={`${pathOf(connection)}/warning`}>
              <p>No warning if nobody is notified</p>
              <Submit name="Warn again" does="warn" weight="plain" small />
            </Form>
          ),
        ],
        ['Connection ID', <code>{connection.id}</code>],
        ['Added', <Time at={connection.createdAt} />],
      ]}
    />
  </Panel>
);

/** How many safety events were stored without notifying anybody, because they came in late. */
const HeldBack = ({ heldBack, at }: { heldBack: number; at: number }) => (
  <>
    {counted(heldBack, 'safety event', 'safety events')}, the last <Ago at={at} />
    <p class="sub">
      They were more than {newsMs / dayMs} days old when they arrived: they are listed, but were not
      sent.
    </p>
  </>
);

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

const recordColumns: Column<RecordCount>[] = [
  naming('Kind', ({ kind }) => capital(kind)),
  { head: 'Count', cell: ({ count }) => cappedCount(count, maxRecordsCounted) },
  {
    head: 'Last received',
    look: 'nowrap',
    cell: ({ arrivedAt }) => (arrivedAt === null ? 'None yet' : <Ago at={arrivedAt} />),
  },
];

/** The form for the secret of a provider's webhook. */
export const webhookSecret = (provider: string, isSet = false) => ({
  secret: line(isSet ? 'New secret' : 'Secret', v.string(), {
    type: 'password',
    autocomplete: 'off',
    hint: `As ${provider} shows it. Stored encrypted, and never shown again.`,
  }),
});

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
