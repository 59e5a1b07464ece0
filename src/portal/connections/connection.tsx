import { listTokens } from '../../core/accounts/tokens/service.ts';
import { type Connection, connectionName, findConnection } from '../../core/fleet/connections.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { by, type Context, orNotFound } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { newsMs } from '../../core/webhooks/notifications/types.ts';
import { cappedCount, counted } from '../../texts/words.ts';
import { added, type OnConnection } from '../../ui/added.ts';
import { LinkButton, MoreActions } from '../../ui/buttons.tsx';
import { above } from '../../ui/connections.ts';
import { page } from '../../ui/layout.tsx';
import { connectionPath } from '../../ui/lists/records.tsx';
import { Facts, Live, Note, Panel } from '../../ui/parts.tsx';
import { type Column, naming, TablePanel } from '../../ui/table.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { connectionRecords, maxRecordsCounted, type RecordCount } from '../read/activity.ts';
import { findPulled } from './connections.tsx';
import { Health, healthOf } from './health.tsx';
import { Labels } from './labels.tsx';
import { IngestKeys } from './own.tsx';

/** The page of the connection in the path. @throws Refusal: not found, also for another account's */
export async function showConnection(c: Context) {
  const id = c.req.param('id') ?? '';
  const [stored, { records, words }, pulled, keys] = await Promise.all([
    findConnection(...by(c), id),
    connectionRecords(...by(c), id),
    findPulled(c, id),
    listTokens(...by(c), { limit: 100 }, { connectionId: id }),
  ]);
  const connection = orNotFound(stored);
  const more = await Promise.all(added(c, 'connection').map((part) => part(c, connection, pulled)));
  const hasData = records.some(({ count }) => count > 0);
  const health = healthOf(connection, pulled, hasData);
  const repair = pulled?.repair;
  const name = connectionName(connection);
  const path = connectionPath(connection);
  const owners = more.flatMap(({ owner = name }) => (owner === name ? [] : [`“${owner}”`]));
  return page(
    c,
    {
      title: name,
      above,
      state: <Health health={health} />,
      lead: [...(connection.tsp === name ? [] : [connection.tsp]), ...owners].join(', '),
      actions: (
        <>
          {more.map(({ actions }) => actions)}
          <MoreActions>
            {more.map(({ links }) => links)}
            <LinkButton href={`${path}/remove`} name="Remove" icon="trash" weight="ghost danger" />
          </MoreActions>
        </>
      ),
    },
    <>
      <Live id="health-now">
        {health.note && (
          <Note mood={health.mood} side={repair && <LinkButton {...repair} weight="primary" />}>
            {health.note} {!pulled && 'A connector sends its data: ask whoever runs that.'}
          </Note>
        )}
        {more.map(({ problem }) => problem)}
      </Live>
      {more.map((one) => one.above)}
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
        <Details connection={connection} more={more} />
      </div>
      {more.map(({ forms }) => forms)}
      <IngestKeys path={path} keys={keys.items} isSent={!pulled} />
      <Labels path={path} words={words} connection={connection} />
      {more.map(({ below }) => below)}
    </>,
  );
}

const Details = (props: { connection: Connection; more: OnConnection[] }) => {
  const { connection, more } = props;
  return (
    <Panel title="Details" body live>
      <Facts
        facts={[
          ['Provider', <code>{connection.provider}</code>],
          ...more.flatMap(({ facts = [] }) => facts),
          ['Name in deliveries', connection.tsp],
          [
            'Held back',
            connection.heldBackAt && <HeldBack {...connection} at={connection.heldBackAt} />,
          ],
          ['External ID', connection.externalId],
          ...more.flatMap(({ lastFacts = [] }) => lastFacts),
          ['Connection ID', <code>{connection.id}</code>],
          ['Added', <Time at={connection.createdAt} />],
        ]}
      />
    </Panel>
  );
};

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

const recordColumns: Column<RecordCount>[] = [
  naming('Kind', ({ kind }) => capital(kind)),
  { head: 'Count', cell: ({ count }) => cappedCount(count, maxRecordsCounted) },
  {
    head: 'Last received',
    look: 'nowrap',
    cell: ({ arrivedAt }) => (arrivedAt === null ? 'None yet' : <Ago at={arrivedAt} />),
  },
];
