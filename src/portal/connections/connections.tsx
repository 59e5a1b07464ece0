import { Hono } from 'hono';
import {
  type ConnectionActivity,
  connectionActivity,
  maxCountedInList,
} from '../../fleet/connection-activity.ts';
import { type Connection, sliceConnections } from '../../fleet/connections.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { requestedSlice } from '../../platform/http/slices.ts';
import { type PullSummary, pullSummaries } from '../../providers/status.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { needs } from '../session/rights.ts';
import { Spark } from '../ui/chart.tsx';
import { upTo } from '../ui/format.ts';
import { LinkButton } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Live, Panel, SlicePager, Table } from '../ui/parts.tsx';
import { Ago } from '../ui/time.tsx';
import { type ConnectionHealth, credentialLabel, Health, healthOf } from './health.tsx';

/** The account's connections. */
export const connectionPages = new Hono<App>().get('/connections', needs('viewer'), list);

export const connectionsPath = '/portal/connections';

/** Each connection of a page costs a few thousand rows at most. */
export const pageSize = 25;

/** A connection with what the list says of it. */
type Listed = {
  connection: Connection;
  activity: ConnectionActivity | undefined;
  pull: PullSummary | undefined;
  health: ConnectionHealth;
};

async function list(c: Context) {
  const slice = requestedSlice(c, pageSize);
  const caller = c.get('caller');
  const [{ items, next }, activity, pulls] = await Promise.all([
    sliceConnections(c.env, caller, slice),
    connectionActivity(c.env, caller, slice),
    pullSummaries(c.env, caller, slice),
  ]);
  const connections = items
    .map((connection): Listed => {
      const pull = pulls.get(connection.id);
      return { connection, activity: activity.get(connection.id), pull, health: healthOf(connection, pull) };
    })
    .toSorted((a, b) => b.health.urgency - a.health.urgency);
  const all = !slice.after && !next;
  return page(
    c,
    {
      title: 'Connections',
      ...(all && items.length > 0 && { lead: summaryOf(connections) }),
      actions: items.length > 0 && <AddConnection />,
    },
    <Panel id="connections" title="Connections" hidden>
      <Live id="connections-now" class="block">
        {connections.length === 0 ? (
          <Empty icon="plug" title="No connections yet" action={<AddConnection />}>
            A connection brings in the data of one telematics provider.
          </Empty>
        ) : (
          <Table caption="Connections" head={columns} flow>
            {connections.map((listed) => (
              <ConnectionRow {...listed} />
            ))}
          </Table>
        )}
      </Live>
      <SlicePager
        c={c}
        count={`${items.length} connections on this page`}
        slice={slice}
        next={next}
        names={['First', 'More']}
      />
    </Panel>,
  );
}

export const AddConnection = () => (
  <LinkButton href={`${connectionsPath}/new`} name="Add a connection" icon="plus" weight="primary" />
);

function summaryOf(connections: Listed[]): string {
  const counts = connections.map(({ activity }) => activity?.vehicles ?? 0);
  const vehicles = counts.reduce((sum, count) => sum + Math.min(count, maxCountedInList), 0);
  const more = counts.some((count) => count >= maxCountedInList) ? 'at least ' : '';
  const ill = connections.filter(({ health }) => health.urgency > 0).length;
  const paused = connections.filter(({ pull }) => pull?.state === 'paused').length;
  const attention =
    ill > 0
      ? `${ill === 1 ? 'One needs' : `${ill} need`} attention.`
      : paused > 0
        ? `${paused === 1 ? 'One is' : `${paused} are`} paused.`
        : 'All are healthy.';
  return `${counted(connections.length, 'data source', 'data sources')}, ${more}${counted(vehicles, 'vehicle', 'vehicles')}. ${attention}`;
}

const columns = ['Connection', 'Health', 'Last pulled', 'Last new record', 'Vehicles', 'Events, 24 h'];

const ConnectionRow = ({ connection, activity, pull, health }: Listed) => {
  const path = `${connectionsPath}/${connection.id}`;
  return (
    <tr>
      <td class="card-title">
        <span class="flex items-start gap-3">
          <span class="tile" aria-hidden="true">
            {connection.tsp.charAt(0).toUpperCase()}
          </span>
          <span class="min-w-0 md:min-w-28">
            <a class="cover wrap-anywhere" href={path}>
              {nameOf(connection)}
            </a>
            <span class="sub block wrap-anywhere">{connection.tsp}</span>
          </span>
        </span>
      </td>
      <td class="card-wide">
        <Health health={health} />
        {health.note && <p class="sub mt-1 max-w-sm wrap-anywhere">{health.note}</p>}
        {pull?.state === 'refused' && (
          <div class="mt-3">
            <LinkButton
              href={`${path}/credential`}
              name={`Replace the ${credentialLabel(pull)}`}
              about={`of ${nameOf(connection)}`}
              small
            />
          </div>
        )}
      </td>
      <td class="nowrap" data-label="Last pulled">
        {pull && (connection.lastPulledAt === null ? 'Not yet' : <Ago at={connection.lastPulledAt} />)}
      </td>
      <td class="nowrap" data-label="Last new record">
        {activity?.arrivedAt ? <Ago at={activity.arrivedAt} /> : 'None yet'}
      </td>
      <td data-label="Vehicles">{upTo(activity?.vehicles ?? 0, maxCountedInList)}</td>
      <td data-label="Events, 24 h">
        <span class="flex items-center gap-3">
          <span class="md:w-12 text-end tabular-nums">{upTo(activity?.events ?? 0, maxCountedInList)}</span>
          {activity?.byHour && <Spark columns={activity.byHour.map((good) => ({ good }))} />}
        </span>
      </td>
    </tr>
  );
};

/** What people call a connection: its name, otherwise its provider. */
export const nameOf = ({ name, tsp }: Connection): string => name ?? tsp;
