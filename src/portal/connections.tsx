import { Hono } from 'hono';
import { type Connection, listConnections } from '../accounts/connections.ts';
import { lastEvents } from '../fleet/activity.ts';
import type { App, Context } from '../http/context.ts';
import { Table, Time } from './components.tsx';
import { page } from './layout.tsx';

/** The account's connections. */
export const connectionPages = new Hono<App>().get('/', list);

async function list(c: Context) {
  const caller = c.get('caller');
  const [connections, lastEventTimes] = await Promise.all([
    listConnections(c.env, caller),
    lastEvents(c.env, caller),
  ]);
  return page(
    c,
    'Connections',
    connections.length === 0 ? (
      <p>There are no connections yet. The team that runs this service adds them.</p>
    ) : (
      <Table caption="Connections" head={['Name', 'Provider', 'Health', 'Last event', '']}>
        {connections.map((connection) => (
          <tr>
            <th scope="row">{nameOf(connection)}</th>
            <td>{connection.tsp}</td>
            <td>
              <Health status={connection.healthStatus} />
            </td>
            <td>
              <Time at={lastEventTimes.get(connection.id) ?? null} />
            </td>
            <td>
              <a
                href={`/portal/events?connection=${connection.id}`}
                aria-label={`Events of ${nameOf(connection)}`}
              >
                Events
              </a>
            </td>
          </tr>
        ))}
      </Table>
    ),
  );
}

/** What people call a connection: its name, otherwise its provider. */
export const nameOf = ({ name, tsp }: Connection): string => name ?? tsp;

const healthNames = ['', 'healthy', 'warning', 'unavailable', 'degraded'];

const Health = ({ status }: { status: number }) => (
  <span class={`tag ${status === 1 ? 'good' : 'bad'}`}>{healthNames[status]}</span>
);
