import { type Connection, listConnections } from '../../fleet/connections.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import { eventsWithDrivers, type NamedEvent, readNamed } from '../../fleet/named.ts';
import { matchFleet } from '../../fleet/names.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { AddConnection, nameOf } from '../connections/connections.tsx';
import { csvFile } from '../ui/csv.ts';
import { dayName, daysInWords } from '../ui/days.ts';
import { LinkButton } from '../ui/forms.tsx';
import { page, timeZoneOf } from '../ui/layout.tsx';
import { shortPlaceName } from '../ui/map.tsx';
import { type Column, Empty, Pager, Table } from '../ui/parts.tsx';
import { DriverName, eventPath } from '../ui/records.tsx';
import { Risk } from '../ui/states.tsx';
import { Clock, dayIn } from '../ui/time.tsx';
import { Speed } from '../ui/units.tsx';
import { type Asked, askedIn, Chips, FilterForm, problemsOf, queryOfDays, requestFor } from './filters.tsx';

const path = '/portal/events';
const perPage = '50';

/** What the address asks for: the account's connections to choose from, and what matches the names that were typed. */
async function requested(c: Context) {
  const zone = timeZoneOf(c);
  const asked = askedIn(c.req.query(), zone);
  const [connections, matched] = await Promise.all([
    listConnections(c.env, c.get('caller')),
    matchFleet(c.env, c.get('caller'), asked.filters),
  ]);
  const ids = connections.map(({ id }) => id);
  const problems = problemsOf(asked.filters, ids);
  const request = problems.length === 0 ? requestFor(asked.filters, ids, matched, zone) : undefined;
  return { zone, asked, connections, matched, problems, request };
}

/** The safety events of all connections, newest first, and the same as a file. */
export async function list(c: Context) {
  const { zone, asked, connections, matched, problems, request } = await requested(c);
  if (connections.length === 0) return page(c, { title: 'Safety events' }, <NoConnections />);
  const { cursor } = c.req.query();
  const { items, next } = request
    ? await readNamed(c.env, c.get('caller'), eventsWithDrivers, {
        ...request,
        query: { ...request.query, limit: [perPage], ...(cursor && { cursor: [cursor] }) },
      })
    : { items: [] };
  const query = queryOfDays(asked);
  const file = problems.length === 0 && (
    <LinkButton href={`${path}.csv?${query}`} name="Export CSV" icon="download" />
  );
  const older = next && `${path}?${query}&cursor=${next}`;
  return page(
    c,
    {
      title: 'Safety events',
      lead: (
        <span data-fresh="lead" role="status">
          {problems.length === 0 ? summary(asked, zone) : 'Check the filters.'}
        </span>
      ),
      actions: (
        <div class="actions" data-fresh="actions">
          {file}
        </div>
      ),
    },
    <section class="panel" aria-label="Events">
      <FilterForm {...{ asked, connections, matched, problems }} />
      <div id="events-now" data-fresh="events" data-live>
        <Chips asked={asked} connections={connections} matched={matched} zone={zone} path={path} />
        {items.length > 0 && <EventTable events={items} connections={connections} zone={zone} />}
        {items.length === 0 && problems.length === 0 && <Nothing older={older} set={asked.set.length > 0} />}
        {(items.length > 0 || cursor) && (
          <Pager
            count={`${counted(items.length, 'event', 'events')}${next ? ', more follow' : ''}`}
            newest={cursor && `${path}?${query}`}
            older={older}
          />
        )}
      </div>
      <script src="/portal/filters.js" defer></script>
    </section>,
    problems.length > 0 ? 'invalid' : undefined,
  );
}

/** The same events as a file; the page, which says what is wrong, if something is. */
export async function file(c: Context) {
  const { asked, problems, request } = await requested(c);
  if (problems.length > 0) return seeOther(c, `${path}?${queryOfDays(asked)}`);
  const { from, to } = asked.filters;
  const cells = safetyEvents.itemCells;
  return csvFile(c, { list: eventsWithDrivers, cells, name: 'safety-events', from, to }, request);
}

const risks = ['', '', 'Risk 2 to 5', 'Risk 3 to 5', 'Risk 4 and 5', 'Risk 5'];

/** "Risk 4 and 5, November 16 to 22", "Speeding, November 20". */
const summary = ({ filters }: Asked, zone: string): string =>
  [risks[Number(filters.risk)], filters.type, daysInWords(zone, filters.from, filters.to)]
    .filter(Boolean)
    .join(', ');

const NoConnections = () => (
  <section class="panel">
    <Empty icon="plug" title="No connections yet" action={<AddConnection />}>
      Safety events appear here once a connection brings them in.
    </Empty>
  </section>
);

/** Filters that let little pass may show nothing for as far as one page looks. */
const Nothing = ({ older, set }: { older: string | undefined; set: boolean }) =>
  older ? (
    <Empty
      icon="search"
      title="Nothing found so far"
      action={<LinkButton href={older} name="Look further back" />}
    >
      The newest events do not match. There are older ones.
    </Empty>
  ) : (
    <Empty
      icon="shield-check"
      title={set ? 'Nothing matches these filters' : 'No safety events in the last 7 days'}
      action={set ? <LinkButton href={path} name="Clear all" /> : undefined}
    >
      {set ? 'Choose other days, or remove a filter.' : 'New events appear here as they come in.'}
    </Empty>
  );

/** Safety events in their order, by the day that they have in the reader's zone. */
const EventTable = (props: { events: NamedEvent[]; connections: Connection[]; zone: string }) => {
  const { events, connections, zone } = props;
  const names = new Map(connections.map((connection) => [connection.id, nameOf(connection)]));
  const days = Map.groupBy(events, ({ startedAt }) => dayIn(zone, Date.parse(startedAt)));
  return (
    <Table
      caption="Safety events"
      look="data-cards data-flow border-t border-line"
      columns={columnsOf(names)}
      groups={[...days].map(([day, items]) => ({ name: dayName(zone, day), items }))}
    />
  );
};

/** `sources` are the names of connections by their ids. */
const columnsOf = (sources: Map<string, string>): Column<NamedEvent>[] => [
  { head: 'Incident', href: eventPath, cell: ({ translatedIncidentTypes: types }) => types.join(', ') },
  { head: 'Risk', look: 'card-side nowrap', cell: ({ eventRisk }) => <Risk risk={eventRisk} named /> },
  { head: 'Vehicle', cell: ({ vehicleName }) => vehicleName },
  { head: 'Driver', cell: (event) => <DriverName {...event} /> },
  { head: 'Place', cell: ({ location }) => location && shortPlaceName(location) },
  { head: 'Speed', look: 'nowrap', cell: (event) => <Speed {...event} /> },
  { head: 'Source', look: 'sub', cell: ({ connectionId, tSP }) => sources.get(connectionId) ?? tSP },
  { head: 'Time', look: 'nowrap', cell: ({ startedAt }) => <Clock at={startedAt} /> },
];
