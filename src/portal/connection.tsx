import { Hono } from 'hono';
import { type Connection, findConnection } from '../accounts/connections.ts';
import { config } from '../config.ts';
import { Refusal } from '../errors.ts';
import { connectionRecords, firstHour, maxCounted, type RecordCount } from '../fleet/connection-activity.ts';
import type { App, Context } from '../http/context.ts';
import { connectionsPath, Health, healthOf, nameOf, upTo } from './connections.tsx';
import { page, timeZoneOf } from './layout.tsx';
import { Columns } from './ui/chart.tsx';
import { LinkButton } from './ui/forms.tsx';
import { Facts, Note, Panel, Table } from './ui/parts.tsx';
import { Ago, Time } from './ui/time.tsx';

/** A connection: how it does, and what it has brought in. */
export const connectionPage = new Hono<App>().get('/connections/:id', detail);

async function detail(c: Context) {
  const id = c.req.param('id') ?? '';
  const [connection, { records, events, byHour }] = await Promise.all([
    findConnection(c.env, c.get('caller'), id),
    connectionRecords(c.env, c.get('caller'), id),
  ]);
  if (!connection) throw new Refusal({ kind: 'not found' });
  const { mood, note } = healthOf(connection);
  return page(
    c,
    {
      title: nameOf(connection),
      above: [{ href: connectionsPath, name: 'Connections' }],
      state: <Health connection={connection} />,
      lead: connection.tsp,
      actions: (
        <LinkButton
          href={`/portal/events?connection=${connection.id}`}
          name="Safety events"
          icon="shield-alert"
        />
      ),
    },
    <>
      {note && (
        <Note mood={mood}>
          <p>{note} The team that runs this service looks after connections.</p>
        </Note>
      )}
      <div class="cols cols-3-2">
        <Panel id="events" title="Safety events, last 24 hours" side={<p>{upTo(events, maxCounted)}</p>}>
          <div class="panel-body">
            {byHour ? (
              <Columns
                id="by-hour"
                summary={`${events} safety events in the last 24 hours, by hour`}
                series={[{ name: 'Events', look: 'fill-main' }]}
                columns={hourly(byHour, timeZoneOf(c))}
              />
            ) : (
              <p class="sub">There are too many to chart here.</p>
            )}
          </div>
        </Panel>
        <Panel id="facts" title="Details">
          <div class="panel-body">
            <Details connection={connection} />
          </div>
        </Panel>
      </div>
      <Panel id="records" title="Records">
        <Records records={records} />
        <p class="panel-foot">{scopeOf(config(c.env).hotDays)}</p>
      </Panel>
    </>,
  );
}

const hourMs = 3_600_000;

/** The hours up to now, each named by when it began. */
const hourly = (byHour: number[], timeZone: string) =>
  byHour.map((value, i) => ({
    name: new Intl.DateTimeFormat('en-US', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).format(firstHour() + i * hourMs),
    values: [value],
  }));

const Details = ({ connection }: { connection: Connection }) => (
  <Facts
    facts={[
      ['Provider', connection.provider],
      ['Name in deliveries', connection.tsp],
      ['Connection ID', <code>{connection.id}</code>],
      ['Added', <Time at={connection.createdAt} />],
      ['Last changed', <Time at={connection.updatedAt} />],
      ['Ingest keys', 'Held by the team that runs this service'],
    ]}
  />
);

const Records = ({ records }: { records: RecordCount[] }) => (
  <Table caption="Records by kind" head={['Kind', 'Count', 'Latest came in', 'Latest happened']} flow>
    {records.map(({ kind, count, arrivedAt, happenedAt }) => (
      <tr>
        <td class="card-title">
          <strong class="font-medium">{kind.charAt(0).toUpperCase() + kind.slice(1)}</strong>
        </td>
        <td data-label="Count">{upTo(count, maxCounted)}</td>
        <td class="nowrap" data-label="Latest came in">
          {arrivedAt === null ? 'None yet' : <Ago at={arrivedAt} />}
        </td>
        <td class="nowrap" data-label="Latest happened">
          {kind === 'vehicles' || kind === 'drivers' ? '–' : <Time at={happenedAt} />}
        </td>
      </tr>
    ))}
  </Table>
);

const scopeOf = (hotDays: number): string =>
  `Counts stop at ${maxCounted.toLocaleString('en')}.${
    hotDays > 0 ? ` Trips, safety events and accidents of the last ${hotDays} days are counted.` : ''
  }`;
