import {
  accidentsWithVehicles,
  eventsWithDrivers,
  listTime,
  type NamedEvent,
  readNamed,
  readWithin,
  tripsWithNames,
} from '../../fleet/named.ts';
import { countByRisk, maxCounted, type RiskCount } from '../../fleet/risk-counts.ts';
import type { Context } from '../../platform/http/context.ts';
import { Accidents } from '../ui/accidents.tsx';
import { RiskChart } from '../ui/chart.tsx';
import { addDays, startOfDay } from '../ui/days.ts';
import { timeZoneOf } from '../ui/layout.tsx';
import { shortPlaceName } from '../ui/map.tsx';
import { Empty, Panel } from '../ui/parts.tsx';
import { eventPath } from '../ui/records.tsx';
import { Risk } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { dayIn, shortDate, Time } from '../ui/time.tsx';
import { Speed } from '../ui/units.tsx';
import { TripTable } from './trips.tsx';

/** How many days the page of a vehicle or a driver shows. */
const days = 30;

type History = Awaited<ReturnType<typeof readHistory>>;

/**
 * The last 30 days of a vehicle or a driver in the reader's zone, today included: 10 events, 10 trips, 5 accidents, and
 * counts of 2,000 events, in one round trip each.
 */
export async function readHistory(c: Context, of: 'vehicle' | 'driver', id: string) {
  const zone = timeZoneOf(c);
  const today = dayIn(zone, Date.now());
  const since = startOfDay(zone, addDays(today, 1 - days));
  const latest = {
    of,
    ids: [id],
    from: since,
    to: startOfDay(zone, addDays(today, 2)),
    limit: 10,
    descending: true,
  };
  const caller = c.get('caller');
  const [counts, events, trips, { items: accidents }] = await Promise.all([
    countByRisk(c.env, caller, of, id, since),
    readWithin(c.env, caller, eventsWithDrivers, latest),
    readWithin(c.env, caller, tripsWithNames, latest),
    readNamed(c.env, caller, accidentsWithVehicles, {
      connectionId: undefined,
      descending: true,
      query: { [of === 'vehicle' ? 'vehicles' : of]: [id], from: [listTime(since)], limit: ['5'] },
    }),
  ]);
  return { zone, today, counts, events, trips, accidents };
}

/** The history in panels: a chart of events per day, the latest events and the latest trips. */
export const HistoryPanels = (props: { of: 'vehicle' | 'driver'; id: string; history: History }) => {
  const { of, id, history } = props;
  const { events, trips, accidents } = history;
  return (
    <>
      {accidents.length > 0 && (
        <Panel
          id="accidents"
          title="Latest accidents"
          side={<a href={`/portal/accidents?${of}=${id}`}>All accidents</a>}
        >
          <Accidents accidents={accidents} narrow />
        </Panel>
      )}
      <PerDay history={history} />
      <Panel
        id="events"
        title="Latest safety events"
        side={<a href={`/portal/events?${of}=${id}`}>All events</a>}
      >
        <EventRows events={events} of={of} none={`No safety events in the last ${days} days`} />
      </Panel>
      <Panel id="trips" title="Latest trips" side={<a href={`/portal/trips?${of}=${id}`}>All trips</a>}>
        <TripTable trips={trips} without={of} none={`No trips in the last ${days} days`} />
      </Panel>
    </>
  );
};

/** Safety events as rows, without the vehicle or driver of the page. */
export const EventRows = (props: { events: NamedEvent[]; of: 'vehicle' | 'driver'; none: string }) => (
  <Table
    caption="Safety events"
    columns={eventColumns(props.of)}
    items={props.events}
    empty={<Empty icon="shield-check" title={props.none} />}
  />
);

const eventColumns = (of: 'vehicle' | 'driver'): Column<NamedEvent>[] => [
  {
    head: 'Incident',
    href: eventPath,
    cell: ({ translatedIncidentTypes: types }) => types.join(', '),
    more: ({ location }) => location && <div class="sub">{shortPlaceName(location)}</div>,
  },
  { head: 'Risk', look: 'card-side nowrap', cell: ({ eventRisk }) => <Risk risk={eventRisk} /> },
  of === 'vehicle'
    ? { head: 'Driver', cell: ({ driverName }) => driverName }
    : { head: 'Vehicle', look: 'md:min-w-24', cell: ({ vehicleName }) => vehicleName },
  { head: 'Speed', look: 'nowrap', cell: (event) => <Speed {...event} /> },
  { head: 'Time', look: 'nowrap', cell: ({ startedAt }) => <Time at={startedAt} /> },
];

const PerDay = ({ history: { zone, today, counts } }: { history: History }) => {
  const total = sum(counts);
  if (total === 0) return null;
  const perDay = Map.groupBy(counts, ({ at }) => dayIn(zone, at));
  const columns = Array.from({ length: days }, (_, i) => {
    const day = addDays(today, i + 1 - days);
    const those = perDay.get(day) ?? [];
    return {
      name: day === today ? 'Today' : shortDate('UTC', Date.parse(day)),
      values: [1, 2, 3, 4, 5].map((wanted) => sum(those.filter(({ risk }) => risk === wanted))),
    };
  });
  const shown =
    total >= maxCounted ? `The newest ${maxCounted.toLocaleString('en')}` : total.toLocaleString('en');
  const side = (
    <p>
      {shown} in the last {days} days
    </p>
  );
  return (
    <Panel id="per-day" title="Safety events per day" side={side} body>
      <RiskChart
        id="per-day-chart"
        summary={`Safety events per day of the last ${days} days, stacked by risk.`}
        columns={columns}
      />
    </Panel>
  );
};

const sum = (counts: RiskCount[]): number => counts.reduce((total, { count }) => total + count, 0);
