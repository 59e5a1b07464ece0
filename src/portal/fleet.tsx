import { Hono } from 'hono';
import { lastEvents } from '../fleet/activity.ts';
import { connections as connectionList } from '../fleet/connections.ts';
import { safetyEvents } from '../fleet/safety-events.ts';
import { readList } from '../fleet/service.ts';
import type { App, Context } from '../http/context.ts';
import { page, Risk, Table, Time } from './layout.tsx';

/** What the account has: connections, and the safety events of each. */
export const fleetPages = new Hono<App>().get('/', connections).get('/events', events);

const healthNames = ['', 'healthy', 'warning', 'unavailable', 'degraded'];

async function ofAccount(c: Context) {
  const request = { connectionId: undefined, query: { limit: ['500'] } };
  const { items } = await readList(c.env, c.get('caller'), connectionList.list, request);
  return items;
}

async function connections(c: Context) {
  const list = await ofAccount(c);
  const last = await lastEvents(
    c.env,
    c.get('caller'),
    list.map(({ id }) => id),
  );
  return page(
    c,
    'Connections',
    list.length === 0 ? (
      <p>None yet. The people who run this service set them up.</p>
    ) : (
      <Table caption="Connections" head={['Name', 'Provider', 'Health', 'Last event', '']}>
        {list.map((one) => (
          <tr>
            <th scope="row">{one.name ?? one.tSP}</th>
            <td>{one.tSP}</td>
            <td>
              <span class={`tag ${one.healthStatus === 1 ? 'good' : 'bad'}`}>
                {healthNames[one.healthStatus]}
              </span>
            </td>
            <td>
              <Time at={last.get(one.id) ?? null} />
            </td>
            <td>
              <a href={`/portal/events?connection=${one.id}`} aria-label={`Events of ${one.name ?? one.tSP}`}>
                Events
              </a>
            </td>
          </tr>
        ))}
      </Table>
    ),
  );
}

const day = 86_400_000;

async function events(c: Context) {
  const list = await ofAccount(c);
  const { connection, risk = '', days = '7', cursor } = c.req.query();
  const chosen = list.find(({ id }) => id === connection) ?? list[0];
  const span = ['1', '7', '30', '365'].find((one) => one === days) ?? '7';
  if (!chosen) return page(c, 'Safety events', <p>There is no connection yet, and so no event.</p>);
  const today = Math.floor(Date.now() / day) * day;
  const query = {
    from: [new Date(today - Number(span) * day).toISOString()],
    to: [new Date(today + day).toISOString()],
    limit: ['50'],
    ...(/^[1-5]$/.test(risk) && { minEventRisk: [risk] }),
    ...(cursor && { cursor: [cursor] }),
  };
  const { items, next } = await readList(c.env, c.get('caller'), safetyEvents.list, {
    connectionId: chosen.id,
    query,
    descending: true,
  });
  const same = new URLSearchParams({ connection: chosen.id, risk, days: span });
  return page(
    c,
    'Safety events',
    <>
      <form method="get">
        <div class="grid">
          <label>
            Connection
            <select name="connection">
              {list.map((one) => (
                <option value={one.id} selected={one.id === chosen.id}>
                  {one.name ?? one.tSP}
                </option>
              ))}
            </select>
          </label>
          <label>
            Risk
            <select name="risk">
              {['', '2', '3', '4', '5'].map((one) => (
                <option value={one} selected={one === risk}>
                  {one ? `${one} and above` : 'all'}
                </option>
              ))}
            </select>
          </label>
          <label>
            Days
            <select name="days">
              {['1', '7', '30', '365'].map((one) => (
                <option selected={one === span}>{one}</option>
              ))}
            </select>
          </label>
        </div>
        <button type="submit">Show</button>
      </form>
      {items.length === 0 ? (
        <p>None{next ? ' so far' : ''}.</p>
      ) : (
        <Table caption="Safety events" head={['When', 'Risk', 'What', 'Vehicle']}>
          {items.map((event) => (
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
      )}
      {next && <a href={`/portal/events?${same}&cursor=${next}`}>Older</a>}
    </>,
  );
}
