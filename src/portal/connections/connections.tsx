import {
  byName,
  type Connection,
  connectionName,
  sliceConnections,
} from '../../core/fleet/connections.ts';
import type { SliceQuery } from '../../core/platform/db/cursor.ts';
import type { Context } from '../../core/platform/http/context.ts';
import { cappedCount, counted } from '../../texts/words.ts';
import { added, type ConnectionHealth, type Pulled } from '../../ui/added.ts';
import { LinkButton } from '../../ui/buttons.tsx';
import { Spark } from '../../ui/chart.tsx';
import { ownPath } from '../../ui/connections.ts';
import { page } from '../../ui/layout.tsx';
import { connectionPath } from '../../ui/lists/records.tsx';
import { type Column, sliceOn, TablePanel } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';
import { type ConnectionActivity, connectionActivity, maxCountedInList } from '../read/activity.ts';
import { Health, healthOf } from './health.tsx';

/** How people add a connection: with a connector of their own, if no extra knows another way. */
export const connectingOf = (c: Context) => {
  const [connecting] = added(c, 'connecting');
  return (
    connecting ?? {
      href: ownPath,
      text: 'Your connector, a program of your own, sends us the data of your telematics provider.',
      others: [],
    }
  );
};

const pullsOf = async (c: Context, which: SliceQuery | string): Promise<Map<string, Pulled>> => {
  const found = await Promise.all(added(c, 'pulled').map((part) => part(c, which)));
  return new Map(found.flatMap((pulls) => [...pulls]));
};

/** The connection, if it is pulled. */
export const findPulled = async (c: Context, id: string): Promise<Pulled | undefined> =>
  (await pullsOf(c, id)).get(id);

/** Few, because each connection reads up to a few thousand rows. */
export const pageSize = 25;

type Listed = {
  connection: Connection;
  activity: ConnectionActivity | undefined;
  pulled: Pulled | undefined;
  health: ConnectionHealth;
};

/** The connections, of each page those with problems first, then by name. Pages go on from the oldest. */
export async function list(c: Context) {
  const { items, pages } = await sliceOn(
    c,
    pageSize,
    ['connection', 'connections'],
    (env, caller, slice) => readConnections(c, env, caller, slice),
  );
  const { href, others } = connectingOf(c);
  const addButton = <LinkButton href={href} name="Add a connection" icon="plus" weight="primary" />;
  return page(
    c,
    {
      title: 'Connections',
      ...(!pages && items.length > 0 && { lead: summaryOf(items) }),
      actions: (
        <>
          {others.map((other) => (
            <LinkButton {...other} />
          ))}
          {items.length > 0 && addButton}
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
        text: 'A connection brings in the data of one telematics provider.',
        action: addButton,
      }}
    />,
  );
}

async function readConnections(c: Context, ...asked: Parameters<typeof sliceConnections>) {
  const [slice, activity, pulls] = await Promise.all([
    sliceConnections(...asked),
    connectionActivity(...asked),
    pullsOf(c, asked[2]),
  ]);
  const items = slice.items.map((connection): Listed => {
    const pulled = pulls.get(connection.id);
    const known = activity.get(connection.id);
    const health = healthOf(connection, pulled, Boolean(known?.arrivedAt));
    return { connection, activity: known, pulled, health };
  });
  const order = (a: Listed, b: Listed) =>
    b.health.urgency - a.health.urgency || byName(a.connection, b.connection);
  return { ...slice, items: items.toSorted(order) };
}

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
    cell: ({ pulled, connection: { lastPulledAt } }) =>
      pulled && (lastPulledAt === null ? 'Not yet' : <Ago at={lastPulledAt} />),
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
      <a class="cover" href={connectionPath(listed.connection)}>
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
    {listed.pulled?.repair && (
      <div class="mt-3">
        <LinkButton
          {...listed.pulled.repair}
          about={`of ${connectionName(listed.connection)}`}
          small
        />
      </div>
    )}
  </>
);
