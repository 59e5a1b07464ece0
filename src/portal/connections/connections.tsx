import {
  byName,
  type Connection,
  connectionName,
  findConnection,
  sliceConnections,
} from '../../core/fleet/connections.ts';
import { by, type Context, orNotFound } from '../../core/platform/http/context.ts';
import {
  type ConnectionActivity,
  connectionActivity,
  maxCountedInList,
} from '../../extras/activity/activity.ts';
import { connectorOf } from '../../extras/providers/registry.ts';
import { type PullSummary, pullSummaries, pullSummary } from '../../extras/providers/status.ts';
import { cappedCount, counted } from '../../texts/words.ts';
import { LinkButton } from '../../ui/buttons.tsx';
import { Spark } from '../../ui/chart.tsx';
import { page } from '../../ui/layout.tsx';
import { type Column, sliceOn, TablePanel } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';
import { type ConnectionHealth, credentialLabel, Health, healthOf } from './health.tsx';

export const connectionsPath = '/portal/connections';
export const linksPath = `${connectionsPath}/links`;
export const addPath = `${connectionsPath}/new`;
export const ownPath = `${connectionsPath}/own`;

export const above = [{ href: connectionsPath, name: 'Connections' }];
export const aboveOf = (connection: Connection) => [
  ...above,
  { href: pathOf(connection), name: connectionName(connection) },
];

export const pathOf = ({ id }: Connection): string => `${connectionsPath}/${id}`;

/** The connection in the path. @throws Refusal: not found, also for another account's, or one that does not pull */
export async function requirePulled(c: Context) {
  const id = c.req.param('id') ?? '';
  const [connection, pull] = await Promise.all([
    findConnection(...by(c), id),
    pullSummary(...by(c), id),
  ]);
  const connector = orNotFound(pull && connectorOf(pull.provider));
  return { connection: orNotFound(connection), pull: orNotFound(pull), connector };
}

/** Few, because each connection reads up to a few thousand rows. */
export const pageSize = 25;

type Listed = {
  connection: Connection;
  activity: ConnectionActivity | undefined;
  pull: PullSummary | undefined;
  health: ConnectionHealth;
};

/** The connections, of each page those with problems first, then by name. Pages go on from the oldest. */
export async function list(c: Context) {
  const { items, pages } = await sliceOn(
    c,
    pageSize,
    ['connection', 'connections'],
    readConnections,
  );
  return page(
    c,
    {
      title: 'Connections',
      ...(!pages && items.length > 0 && { lead: summaryOf(items) }),
      actions: (
        <>
          <LinkButton href={linksPath} name="Connect links" />
          {items.length > 0 && <AddConnection />}
        </>
      ),
    },
    <TablePanel
      title="Connections"
      hidden
      live
      labels
      columns={columns}
      {...{ items, pages }}
      empty={{
        icon: 'plug',
        title: 'No connections yet',
        text: 'A connection pulls the data of one telematics provider.',
        action: <AddConnection />,
      }}
    />,
  );
}

async function readConnections(...asked: Parameters<typeof sliceConnections>) {
  const [slice, activity, pulls] = await Promise.all([
    sliceConnections(...asked),
    connectionActivity(...asked),
    pullSummaries(...asked),
  ]);
  const items = slice.items.map((connection): Listed => {
    const pull = pulls.get(connection.id);
    const known = activity.get(connection.id);
    const health = healthOf(connection, pull, Boolean(known?.arrivedAt));
    return { connection, activity: known, pull, health };
  });
  const order = (a: Listed, b: Listed) =>
    b.health.urgency - a.health.urgency || byName(a.connection, b.connection);
  return { ...slice, items: items.toSorted(order) };
}

const AddConnection = () => (
  <LinkButton href={addPath} name="Add a connection" icon="plus" weight="primary" />
);

/** "6 data sources, 302 vehicles. One needs attention." */
function summaryOf(connections: Listed[]): string {
  const vehicles = connections.reduce((sum, { activity }) => sum + (activity?.vehicles ?? 0), 0);
  const isCapped = connections.some(
    ({ activity }) => (activity?.vehicles ?? 0) >= maxCountedInList,
  );
  const found = counted(vehicles, 'vehicle', 'vehicles', isCapped ? vehicles : undefined);
  const ill = connections.filter(({ health }) => health.urgency > 0).length;
  const attention =
    ill === 0 ? '' : ill === 1 ? ' One needs attention.' : ` ${ill} need attention.`;
  return `${counted(connections.length, 'data source', 'data sources')}, ${found}.${attention}`;
}

const columns: Column<Listed>[] = [
  { head: 'Connection', look: 'card-title', cell: (listed) => <Title {...listed} /> },
  { head: 'Health', look: 'card-wide', cell: (listed) => <HealthAndRepair {...listed} /> },
  {
    head: 'Last pulled',
    look: 'nowrap',
    cell: ({ pull, connection: { lastPulledAt } }) =>
      pull && (lastPulledAt === null ? 'Not yet' : <Ago at={lastPulledAt} />),
  },
  {
    head: 'Last new record',
    look: 'nowrap',
    cell: ({ activity }) => (activity?.arrivedAt ? <Ago at={activity.arrivedAt} /> : 'None yet'),
  },
  {
    head: 'Vehicles',
    cell: ({ activity }) => cappedCount(activity?.vehicles ?? 0, maxCountedInList),
  },
  {
    head: 'Events, 24 h',
    cell: ({ activity }) => (
      <span class="flex items-center gap-3">
        <span class="md:w-12 text-end tabular-nums">
          {cappedCount(activity?.events ?? 0, maxCountedInList)}
        </span>
        {activity?.byHour && <Spark columns={activity.byHour.map((good) => ({ good }))} />}
      </span>
    ),
  },
];

const Title = (listed: Listed) => (
  <span class="flex items-start gap-3">
    <span class="tile" aria-hidden="true">
      {listed.connection.tsp.charAt(0).toUpperCase()}
    </span>
    <span class="min-w-0">
      <a class="cover" href={pathOf(listed.connection)}>
        {connectionName(listed.connection)}
      </a>
      {listed.connection.name && <span class="sub block">{listed.connection.tsp}</span>}
    </span>
  </span>
);

const HealthAndRepair = (listed: Listed) => (
  <>
    <Health health={listed.health} />
    {listed.health.note && <p class="sub mt-1 max-w-sm">{listed.health.note}</p>}
    {listed.pull?.state === 'refused' && (
      <div class="mt-3">
        <LinkButton
          href={`${pathOf(listed.connection)}/credential`}
          name={`Replace the ${credentialLabel(listed.pull)}`}
          about={`of ${connectionName(listed.connection)}`}
          small
        />
      </div>
    )}
  </>
);
