import { validate as isUuid } from 'uuid';
import { findItem, findReferences } from '../../fleet/find.ts';
import { trips } from '../../fleet/lists/trips.ts';
import {
  eventsWithDrivers,
  type NamedEvent,
  type NamedTrip,
  readWithin,
  tripsWithNames,
} from '../../fleet/named-lists.ts';
import { dayMs } from '../../platform/durations.ts';
import type { Context } from '../../platform/http/context.ts';
import { browse } from '../ui/browse.tsx';
import { eventColumns } from '../ui/events.tsx';
import { page } from '../ui/layout.tsx';
import { type MapPlace, placeName, shortPlaceName } from '../ui/map.tsx';
import { Empty } from '../ui/parts.tsx';
import {
  DriverLink,
  DriverName,
  found,
  idIn,
  MapAndFacts,
  pointsOf,
  SourceLink,
  timeIn,
  tripPath,
  vehiclePath,
} from '../ui/records.tsx';
import { type Column, Table, TablePanel } from '../ui/table.tsx';
import { FullTime, spanInWords, Time } from '../ui/time.tsx';
import { Distance } from '../ui/units.tsx';

const path = '/portal/trips';

/** The trips of the account, or of one of its vehicles or drivers, newest first. */
export async function list(c: Context) {
  const { vehicle = '', driver = '' } = c.req.query();
  const asked = { ...(isUuid(vehicle) && { vehicle }), ...(isUuid(driver) && { driver }) };
  const query = {
    ...(asked.vehicle && { vehicleIds: [asked.vehicle.toLowerCase()] }),
    ...(asked.driver && { driverIds: [asked.driver.toLowerCase()] }),
  };
  const request = { connectionId: undefined, descending: true, query };
  const search = { asked, kept: asked, matched: {}, problems: [], request };
  return browse(c, { path, list: tripsWithNames, words: ['trip', 'trips'] }, search, {
    title: 'Trips',
    lead: 'Newest first.',
    chips: ([first]) => ({
      vehicle: first?.vehicleName ?? 'One vehicle',
      driver: first?.driverName ?? 'One driver',
    }),
    table: (items) => <Table caption="Trips" columns={tripColumns} items={items} />,
    empty: (
      <Empty icon="route" title="No trips">
        They appear here once a connection has sent them.
      </Empty>
    ),
  });
}

export const tripColumns: Column<NamedTrip>[] = [
  {
    head: 'Trip',
    look: 'card-title',
    cell: (trip) => (
      <a class="cover nowrap" href={tripPath(trip)}>
        <Time at={trip.startedAt} />
      </a>
    ),
    more: (trip) => <div class="sub">{routeOf(trip)}</div>,
  },
  { head: 'Vehicle', cell: ({ vehicleName }) => vehicleName ?? <span class="sub">Unknown</span> },
  { head: 'Driver', cell: (trip) => <DriverName {...trip} /> },
  { head: 'Distance', look: 'nowrap', cell: ({ distanceKm: km }) => km !== null && <Distance km={km} /> },
  { head: 'Duration', look: 'nowrap', cell: durationOf },
];

/** A link to a trip's page: its route, or when it began; with its length. */
export const TripLink = ({ trip }: { trip: NamedTrip }) => {
  const isNamed = trip.startLocation?.address || trip.endLocation?.address;
  return (
    <>
      <a href={tripPath(trip)}>
        {isNamed ? (
          routeOf(trip)
        ) : (
          <>
            Since <Time at={trip.startedAt} />
          </>
        )}
      </a>
      {trip.distanceKm !== null && (
        <>
          , <Distance km={trip.distanceKm} />
        </>
      )}
    </>
  );
};

/** "Chambersburg, PA to Carlisle, PA", as far as known. */
function routeOf({ startLocation, endLocation }: Pick<NamedTrip, 'startLocation' | 'endLocation'>): string {
  if (startLocation && endLocation)
    return `${shortPlaceName(startLocation)} to ${shortPlaceName(endLocation)}`;
  if (startLocation) return `From ${shortPlaceName(startLocation)}`;
  return endLocation ? `To ${shortPlaceName(endLocation)}` : '';
}

/** A trip's duration in words, or that it is in progress. */
function durationOf({ startedAt, endedAt, durationSeconds }: NamedTrip): string {
  if (durationSeconds !== null) return spanInWords(durationSeconds * 1000);
  return endedAt === null ? 'In progress' : spanInWords(Date.parse(endedAt) - Date.parse(startedAt));
}

/** How many of its vehicle's events are read, the first ones. */
const maxTripEvents = 200;

/** How long a trip without an end is assumed to last, in milliseconds. */
const openTripMs = dayMs;

/** The page of a trip, with the events of its vehicle meanwhile. */
export async function detail(c: Context) {
  const id = idIn(c);
  const trip = found(await findItem(c.env, c.get('caller'), trips.list, id, timeIn(c.req.query('at'))));
  const [{ vehicle, driver, connection }, events] = await Promise.all([
    findReferences(c.env, c.get('caller'), trip),
    eventsOf(c, trip),
  ]);
  const name = vehicle?.name ?? 'an unknown vehicle';
  const { startLocation: start, endLocation: end } = trip;
  return page(
    c,
    {
      title: `Trip of ${name}`,
      lead: <FullTime at={trip.startedAt} />,
      above: [{ href: '/portal/trips', name: 'Trips' }],
    },
    <div class="cols cols-3-2">
      <TablePanel
        id="events"
        title="Safety events on this trip"
        side={events.length === maxTripEvents && <p>The first {maxTripEvents}</p>}
        columns={eventColumns('vehicle')}
        items={events}
        empty={<Empty icon="shield-check" title="No safety events on this trip" />}
      />
      <MapAndFacts
        label={`Trip of ${name}: where it began and ended, and its safety events`}
        points={[
          ...(start ? [{ at: start, name: 'Start', look: 'start' as const }] : []),
          ...(end ? [{ at: end, name: 'End', look: 'end' as const }] : []),
          ...pointsOf(events),
        ]}
        line={[start, ...events.map(({ location }) => location), end].filter((place) => place !== null)}
        facts={[
          ['Vehicle', vehicle && <a href={vehiclePath(vehicle)}>{vehicle.name}</a>],
          ['Driver', <DriverLink driverId={trip.driverId} driverName={driver?.name} />],
          ['Started', <Moment at={trip.startedAt} place={start} />],
          ['Ended', trip.endedAt && <Moment at={trip.endedAt} place={end} />],
          ['Duration', durationOf(trip)],
          ['Distance', trip.distanceKm === null ? null : <Distance km={trip.distanceKm} />],
          ['Source', <SourceLink id={trip.connectionId} connection={connection} />],
          ['Trip ID', <code class="text-xs">{trip.id}</code>],
        ]}
      />
    </div>,
  );
}

/** The events of the trip's vehicle during the trip, except those that the provider assigns to another trip. */
async function eventsOf(c: Context, trip: NamedTrip): Promise<NamedEvent[]> {
  const from = Date.parse(trip.startedAt);
  const to = trip.endedAt === null ? from + openTripMs : Date.parse(trip.endedAt);
  const events = await readWithin(c.env, c.get('caller'), eventsWithDrivers, {
    of: 'vehicle',
    ids: [trip.vehicleId],
    from,
    to: Math.max(from, to) + 1,
    limit: maxTripEvents,
  });
  return events.filter(({ tripId }) => tripId === null || tripId === trip.id);
}

const Moment = ({ at, place }: { at: string; place: MapPlace | null }) => (
  <>
    <Time at={at} />
    {place && (
      <>
        <br />
        <span class="sub">{placeName(place)}</span>
      </>
    )}
  </>
);

/** The trip that a vehicle was on, preferably one with a driver; `ids` are its ids in all connections. */
export async function tripAt(c: Context, ids: string[], at: number): Promise<NamedTrip | undefined> {
  if (ids.length === 0) return undefined;
  const trips = await readWithin(c.env, c.get('caller'), tripsWithNames, {
    ...{ of: 'vehicle', ids, from: at - longestTripMs, to: at + 1, limit: ids.length, descending: true },
  });
  // It began at most a day before; one that has just ended counts.
  const during = trips.filter(({ endedAt }) => endedAt === null || Date.parse(endedAt) >= at - justEndedMs);
  return during.find(({ driverId }) => driverId) ?? during[0];
}

const longestTripMs = dayMs;
const justEndedMs = 15 * 60_000;
