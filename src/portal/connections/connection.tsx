import { connectionRecords, maxCounted, type RecordCount } from '../../fleet/connection-activity.ts';
import { type Connection, findConnection } from '../../fleet/connections.ts';
import { unmappedWords } from '../../fleet/unmapped-words.ts';
import { config } from '../../platform/config.ts';
import type { Context } from '../../platform/http/context.ts';
import { type PullStatus, pullStatus } from '../../providers/status.ts';
import { LinkButton, MoreActions, PostButton } from '../ui/buttons.tsx';
import { ExternalIdPanel } from '../ui/external-id.tsx';
import { capital, cappedCount } from '../ui/format.ts';
import { page } from '../ui/layout.tsx';
import { Facts, Live, Note, Panel } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { type Column, naming, Table } from '../ui/table.tsx';
import { Ago, Time } from '../ui/time.tsx';
import { connectionsPath, nameOf } from './connections.tsx';
import { credentialLabel, Health, healthOf } from './health.tsx';
import { Feeds, ProviderWebhook, Refusals, Unmapped } from './pull.tsx';

/** The page of the connection in the path. @throws Refusal: not found, also for another account's */
export async function showConnection(c: Context) {
  const id = c.req.param('id') ?? '';
  const caller = c.get('caller');
  const [stored, records, pull] = await Promise.all([
    findConnection(c.env, caller, id),
    connectionRecords(c.env, caller, id),
    pullStatus(c.env, caller, id),
  ]);
  const connection = found(stored);
  const unmapped = pull ? pull.unmapped : await unmappedWords(c.env, caller, connection);
  const health = healthOf(connection, pull);
  const path = `${connectionsPath}/${connection.id}`;
  return page(
    c,
    {
      title: nameOf(connection),
      above: [{ href: connectionsPath, name: 'Connections' }],
      state: <Health health={health} />,
      lead:
        pull && pull.organisation !== nameOf(connection)
          ? `${connection.tsp}, “${pull.organisation}”`
          : connection.tsp,
      actions: pull && <Actions path={path} pull={pull} />,
    },
    <>
      <Live id="health-now">
        {health.note && (
          <Note
            mood={health.mood}
            side={
              pull?.state === 'refused' && (
                <LinkButton
                  href={`${path}/credential`}
                  name={`Replace the ${credentialLabel(pull)}`}
                  weight="primary"
                />
              )
            }
          >
            <p class="wrap-anywhere">
              {health.note} {!pull && 'The team that runs this service manages this connection.'}
            </p>
          </Note>
        )}
      </Live>
      {pull && <Feeds pull={pull} />}
      <div class="cols cols-3-2">
        <Panel
          id="records"
          title="Records"
          side={<a href={`/portal/events?connection=${id}`}>Safety events</a>}
          foot={`Counts stop at ${maxCounted.toLocaleString('en')}, and leave out archived records.`}
          live
        >
          <Table caption="Records by kind" labels columns={recordColumns} items={records} />
        </Panel>
        <Panel id="facts" title="Details" body live>
          <Details connection={connection} pull={pull} />
        </Panel>
      </div>
      <ExternalIdPanel
        to={`${path}/external-id`}
        value={connection.externalId}
        hint="Such as a policy number: externalId in the API. No other connection can have the same one."
      />
      {pull && pull.state !== 'withdrawn' && (
        <ProviderWebhook
          path={path}
          url={`${config(c.env).origin ?? new URL(c.req.url).origin}/providers/${id}/webhook`}
          pull={pull}
        />
      )}
      {unmapped.length > 0 && <Unmapped unmapped={unmapped} />}
      {pull && pull.refusals.length > 0 && <Refusals refusals={pull.refusals} />}
    </>,
  );
}

const Actions = ({ path, pull }: { path: string; pull: PullStatus }) => {
  const isWithdrawn = pull.state === 'withdrawn';
  return (
    <>
      {pull.state === 'paused' && (
        <PostButton to={`${path}/resume`} name="Resume" icon="play" weight="primary" />
      )}
      {pull.state !== 'paused' && !isWithdrawn && (
        <>
          <PostButton to={`${path}/pull`} name="Pull now" icon="refresh-cw" />
          <PostButton to={`${path}/pause`} name="Pause" icon="pause" />
        </>
      )}
      <MoreActions>
        {!isWithdrawn && (
          <LinkButton
            href={`${path}/credential`}
            name={`Replace the ${credentialLabel(pull)}`}
            icon="key-round"
            weight="ghost"
          />
        )}
        <LinkButton href={`${path}/remove`} name="Remove" icon="trash" weight="ghost danger" />
      </MoreActions>
    </>
  );
};

const Details = ({ connection, pull }: { connection: Connection; pull: PullStatus | undefined }) => (
  <Facts
    facts={[
      ['Provider', <code>{connection.provider}</code>],
      ['Organization', pull?.organisation],
      ['Last pulled', pull && (pull.lastPulledAt === null ? 'Not yet' : <Ago at={pull.lastPulledAt} />)],
      ['Next pull', pull?.nextAt && (pull.nextAt <= Date.now() ? 'Now' : <Time at={pull.nextAt} />)],
      ['API', pull && <code>{new URL(pull.baseUrl).host}</code>],
      ['Name in deliveries', connection.tsp],
      ['External ID', connection.externalId],
      ['Connection ID', <code>{connection.id}</code>],
      ['Added', <Time at={connection.createdAt} />],
    ]}
  />
);

const recordColumns: Column<RecordCount>[] = [
  naming('Kind', ({ kind }) => capital(kind)),
  { head: 'Count', cell: ({ count }) => cappedCount(count, maxCounted) },
  {
    head: 'Last received',
    look: 'nowrap',
    cell: ({ arrivedAt }) => (arrivedAt === null ? 'None yet' : <Ago at={arrivedAt} />),
  },
];
