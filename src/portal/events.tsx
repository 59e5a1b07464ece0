import { Hono } from 'hono';
import { type Connection, listConnections } from '../accounts/connections.ts';
import { safetyEvents } from '../fleet/safety-events.ts';
import { readList } from '../fleet/service.ts';
import type { App, Context } from '../http/context.ts';
import { seeOther } from '../http/redirect.ts';
import { limitActions } from './action-limit.ts';
import { Risk, Table, Time } from './components.tsx';
import { nameOf } from './connections.tsx';
import { eventsCsv, maxCsvEvents } from './events-csv.ts';
import { page } from './layout.tsx';

/** The safety events of a connection, newest first. */
export const eventPages = new Hono<App>().get('/events', list).get('/events.csv', limitActions, file);

const periods = ['1', '7', '30', '365'];
const dayMs = 86_400_000;

async function list(c: Context) {
  const connections = await listConnections(c.env, c.get('caller'));
  const { connection: id, cursor } = c.req.query();
  const connection = connections.find((known) => known.id === id) ?? connections[0];
  if (!connection)
    return page(c, 'Safety events', <p>There are no connections yet, so there are no safety events.</p>);
  const { risk, days, query } = requested(c);
  const { items, next } = await readList(c.env, c.get('caller'), safetyEvents.list, {
    connectionId: connection.id,
    query: { ...query, limit: ['50'], ...(cursor && { cursor: [cursor] }) },
    descending: true,
  });
  const filters = new URLSearchParams({ connection: connection.id, risk, days });
  return page(
    c,
    'Safety events',
    <>
      <Filters connections={connections} connection={connection} risk={risk} days={days} />
      {items.length === 0 ? (
        <p>{next ? 'No matching events so far.' : 'No events.'}</p>
      ) : (
        <>
          <Events events={items} />
          <p>
            <a href={`/portal/events.csv?${filters}`}>Download as CSV</a>{' '}
            <small>These events, at most the {maxCsvEvents.toLocaleString('en')} newest.</small>
          </p>
        </>
      )}
      {next && <a href={`/portal/events?${filters}&cursor=${next}`}>Older events</a>}
    </>,
  );
}

/** What the filters of the page select, whose connection is another matter. */
function requested(c: Context) {
  const { risk = '', days: wanted = '' } = c.req.query();
  const days = periods.includes(wanted) ? wanted : '7';
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const query = {
    from: [new Date(today - Number(days) * dayMs).toISOString()],
    to: [new Date(today + dayMs).toISOString()],
    ...(/^[1-5]$/.test(risk) && { minEventRisk: [risk] }),
  };
  return { risk, days, query };
}

/** The same events as a file; the page, for a connection that the account does not have. */
async function file(c: Context) {
  const { connection: id } = c.req.query();
  const connections = await listConnections(c.env, c.get('caller'));
  const connection = connections.find((known) => known.id === id);
  if (!connection) return seeOther(c, '/portal/events');
  return eventsCsv(c, { connectionId: connection.id, query: requested(c).query, descending: true });
}

const Filters = (props: {
  connections: Connection[];
  connection: Connection;
  risk: string;
  days: string;
}) => (
  <form method="get">
    <div class="grid">
      <label>
        Connection
        <select name="connection">
          {props.connections.map((connection) => (
            <option value={connection.id} selected={connection.id === props.connection.id}>
              {nameOf(connection)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Risk
        <select name="risk">
          {['', '2', '3', '4', '5'].map((risk) => (
            <option value={risk} selected={risk === props.risk}>
              {risk ? `${risk} and above` : 'all'}
            </option>
          ))}
        </select>
      </label>
      <label>
        Period
        <select name="days">
          {periods.map((days) => (
            <option value={days} selected={days === props.days}>
              {days === '1' ? 'last day' : `last ${days} days`}
            </option>
          ))}
        </select>
      </label>
    </div>
    <button type="submit">Show</button>
  </form>
);

type SafetyEvent = ReturnType<typeof safetyEvents.list.present>;

const Events = ({ events }: { events: SafetyEvent[] }) => (
  <Table caption="Safety events" head={['Time', 'Risk', 'Incident types', 'Vehicle']}>
    {events.map((event) => (
      <tr>
        <th scope="row">
          <Time at={event.startedAt} />
        </th>
        <td>
          <Risk risk={event.eventRisk} />
        </td>
        <td>{event.translatedIncidentTypes.join(', ')}</td>
        <td>{event.vehicleName}</td>
      </tr>
    ))}
  </Table>
);
