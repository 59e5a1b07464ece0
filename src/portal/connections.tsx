import { Hono } from 'hono';
import { type Connection, sliceConnections } from '../accounts/connections.ts';
import {
  type ConnectionActivity,
  connectionActivity,
  maxCountedInList,
} from '../fleet/connection-activity.ts';
import type { App, Context } from '../http/context.ts';
import { cursorFor, requestedSlice } from '../http/slices.ts';
import { page } from './layout.tsx';
import { Empty, Pager, Panel, Table } from './ui/parts.tsx';
import { type Mood, State } from './ui/states.tsx';
import { Ago } from './ui/time.tsx';

/** The account's connections. */
export const connectionPages = new Hono<App>().get('/connections', list);

export const connectionsPath = '/portal/connections';

/** Each connection of a page costs a few thousand rows at most. */
const pageSize = 25;

async function list(c: Context) {
  const slice = requestedSlice(c, pageSize);
  const caller = c.get('caller');
  const [{ items, next }, activity] = await Promise.all([
    sliceConnections(c.env, caller, slice),
    connectionActivity(c.env, caller, slice),
  ]);
  const connections = items.toSorted((a, b) => urgency(b) - urgency(a));
  const all = !slice.after && !next;
  return page(
    c,
    { title: 'Connections', ...(all && items.length > 0 && { lead: summaryOf(items, activity) }) },
    <Panel id="connections" title="Connections" hidden>
      {connections.length === 0 ? (
        <Empty icon="plug" title="No connections yet">
          A connection brings in the data of one telematics provider. The team that runs this service adds
          them.
        </Empty>
      ) : (
        <Connections connections={connections} activity={activity} />
      )}
      {!all && (
        <Pager
          count={`${items.length} connections on this page`}
          names={['First', 'More']}
          newest={slice.after && connectionsPath}
          older={next && `${connectionsPath}?cursor=${cursorFor(c, next)}`}
        />
      )}
    </Panel>,
  );
}

function summaryOf(connections: Connection[], activity: Map<string, ConnectionActivity>): string {
  const counts = connections.map(({ id }) => activity.get(id)?.vehicles ?? 0);
  const vehicles = counts.reduce((sum, count) => sum + Math.min(count, maxCountedInList), 0);
  const more = counts.some((count) => count > maxCountedInList) ? 'at least ' : '';
  const ill = connections.filter((connection) => urgency(connection) > 0).length;
  const attention = ill === 0 ? 'All are healthy.' : `${ill === 1 ? 'One needs' : `${ill} need`} attention.`;
  return `${plural(connections.length, 'data source')}, ${more}${plural(vehicles, 'vehicle')}. ${attention}`;
}

const plural = (count: number, word: string) =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

const Connections = (props: { connections: Connection[]; activity: Map<string, ConnectionActivity> }) => (
  <Table
    caption="Connections"
    head={['Connection', 'Health', 'Last new record', 'Vehicles', 'Events, 24 h']}
    flow
  >
    {props.connections.map((connection) => (
      <Row connection={connection} activity={props.activity.get(connection.id)} />
    ))}
  </Table>
);

const Row = (props: { connection: Connection; activity: ConnectionActivity | undefined }) => {
  const { connection, activity } = props;
  const { note } = healthOf(connection);
  return (
    <tr>
      <td class="card-title">
        <span class="flex items-start gap-3">
          <span class="tile" aria-hidden="true">
            {connection.tsp.charAt(0).toUpperCase()}
          </span>
          <span class="min-w-0">
            <a class="cover break-words" href={`${connectionsPath}/${connection.id}`}>
              {nameOf(connection)}
            </a>
            <span class="sub block break-words">{connection.tsp}</span>
          </span>
        </span>
      </td>
      <td class="card-wide">
        <Health connection={connection} />
        {note && <p class="sub mt-1">{note}</p>}
      </td>
      <td class="nowrap" data-label="Last new record">
        {activity?.arrivedAt ? <Ago at={activity.arrivedAt} /> : 'None yet'}
      </td>
      <td data-label="Vehicles">{upTo(activity?.vehicles ?? 0, maxCountedInList)}</td>
      <td data-label="Events, 24 h">
        <span class="flex items-center gap-3">
          <span class="md:w-12 text-end tabular-nums">{upTo(activity?.events ?? 0, maxCountedInList)}</span>
          {activity?.byHour && <Spark values={activity.byHour} />}
        </span>
      </td>
    </tr>
  );
};

/** A count that stops at `most`: "1,000+" beyond it. */
export const upTo = (count: number, most: number): string =>
  count > most ? `${most.toLocaleString('en')}+` : count.toLocaleString('en');

/** The last 24 hours, one bar each. The number beside it says the same. */
const Spark = ({ values }: { values: number[] }) => {
  const highest = Math.max(...values, 1);
  return (
    <svg class="spark" viewBox="0 0 96 24" preserveAspectRatio="none" aria-hidden="true">
      {values.map((value, i) => {
        const height = value === 0 ? 1.5 : 4 + (18 * value) / highest;
        return (
          <rect
            class={value === 0 ? 'fill-rest' : 'fill-main'}
            x={4 * i}
            width="3"
            y={Math.round(100 * (24 - height)) / 100}
            height={Math.round(100 * height) / 100}
          />
        );
      })}
    </svg>
  );
};

/** What people call a connection: its name, otherwise its provider. */
export const nameOf = ({ name, tsp }: Connection): string => name ?? tsp;

const healths: { [status: number]: { mood: Mood; word: string; urgency: number; note?: string } } = {
  1: { mood: 'ok', word: 'Healthy', urgency: 0 },
  2: { mood: 'warn', word: 'Warning', urgency: 1, note: 'Data comes in, but something needs a look.' },
  3: { mood: 'bad', word: 'Unavailable', urgency: 3, note: 'No data comes in from the provider.' },
  4: { mood: 'warn', word: 'Degraded', urgency: 2, note: 'Some data is late or missing.' },
};

/** How a connection does, in words; what needs somebody has a note. */
export const healthOf = ({ healthStatus }: Connection) =>
  healths[healthStatus] ?? { mood: 'quiet' as const, word: 'Unknown', urgency: 0 };

const urgency = (connection: Connection): number => healthOf(connection).urgency;

/** The health of a connection as a state. */
export const Health = ({ connection }: { connection: Connection }) => {
  const { mood, word } = healthOf(connection);
  return <State mood={mood}>{word}</State>;
};
