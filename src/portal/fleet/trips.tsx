import { findReferences } from '../../core/fleet/find.ts';
import { trips } from '../../core/fleet/lists/trips.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { by, type Context, orNotFound } from '../../core/platform/http/context.ts';
import { findListed, reading } from '../../ui/added.ts';
import { page } from '../../ui/layout.tsx';
import { column, eventColumns, tripColumns } from '../../ui/lists/columns.tsx';
import { type RecordList, recordFile, recordPage } from '../../ui/lists/list.tsx';
import { fact, factsOf, idIn, MapAndFacts, pointsOf, timeIn } from '../../ui/lists/records.tsx';
import { type MapPlace, placeName } from '../../ui/map.tsx';
import {
  eventsWithDrivers,
  type NamedTrip,
  readWithin,
  tripsWithNames,
} from '../../ui/read/named-lists.ts';
import { TablePanel } from '../../ui/table.tsx';
import { FullTime, Time } from '../../ui/time.tsx';

const declared = {
  path: '/portal/trips',
  title: 'Trips',
  words: ['trip', 'trips'],
  list: tripsWithNames,
  filters: {
    vehicle: { label: 'Vehicle', placeholder: 'Name, plate or VIN' },
    driver: { label: 'Driver', placeholder: 'Name' },
  },
  file: {
    name: 'trips',
    columns: trips.itemFields,
    heads: {
      ...{ startedAt: 'Started', endedAt: 'Ended', vehicleName: 'Vehicle', driverName: 'Driver' },
      ...{ distanceKm: 'Distance (km)', durationSeconds: 'Duration (s)' },
      ...{ 'startLocation.address': 'From', 'endLocation.address': 'To', connectionName: 'Source' },
    },
  },
  show: () => ({
    lead: 'Newest first.',
    columns: tripColumns,
    empty: {
      icon: 'route',
      title: 'No trips',
      text: 'They appear here once a connection has sent them.',
    },
  }),
} satisfies RecordList<NamedTrip>;

export const list = recordPage(declared);
export const file = recordFile(declared);

const maxTripEvents = 200;

/** How long a trip without an end is assumed to last, in milliseconds. */
const openTripMs = dayMs;

/** The page of a trip, with the events of its vehicle meanwhile. */
export async function detail(c: Context) {
  const id = idIn(c);
  const trip = orNotFound(await findListed(c, trips.list, id, timeIn(c)));
  const [{ vehicle, driver, connection }, events] = await Promise.all([
    findReferences(...by(c), trip),
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
        title="Safety events on this trip"
        side={events.length === maxTripEvents && <p>The first {maxTripEvents}</p>}
        columns={eventColumns('vehicle')}
        items={events}
        empty={{ icon: 'shield-check', title: 'No safety events on this trip' }}
      />
      <MapAndFacts
        label={`Trip of ${name}: where it began and ended, and its safety events`}
        points={[
          ...(start ? [{ at: start, name: 'Start', look: 'start' as const }] : []),
          ...(end ? [{ at: end, name: 'End', look: 'end' as const }] : []),
          ...pointsOf(events),
        ]}
        line={[start, ...events.map(({ location }) => location), end]}
        facts={[
          ...factsOf({ ...trip, vehicle, driverName: driver?.name }, fact.vehicle, fact.driver),
          ['Started', <Moment at={trip.startedAt} place={start} />],
          ['Ended', trip.endedAt && <Moment at={trip.endedAt} place={end} />],
          ...factsOf({ ...trip, connection }, column.duration, column.distance, fact.source),
          ['Trip ID', <code class="text-xs">{trip.id}</code>],
        ]}
      />
    </div>,
  );
}

/** The vehicle's events during the trip, except those of another trip. */
async function eventsOf(c: Context, trip: NamedTrip) {
  const from = Date.parse(trip.startedAt);
  const to = trip.endedAt === null ? from + openTripMs : Date.parse(trip.endedAt);
  const events = await readWithin(...reading(c), eventsWithDrivers, {
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
    {place && [<br />, <span class="sub">{placeName(place)}</span>]}
  </>
);
