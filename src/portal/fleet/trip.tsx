import { findItem, findReferences } from '../../fleet/find.ts';
import { trips } from '../../fleet/lists/trips.ts';
import {
  eventsWithDrivers,
  type NamedEvent,
  type NamedTrip,
  readWithin,
  tripsWithNames,
} from '../../fleet/named.ts';
import { dayMs } from '../../platform/durations.ts';
import type { Context } from '../../platform/http/context.ts';
import { page } from '../ui/layout.tsx';
import { type MapPlace, type MapPoint, placeName } from '../ui/map.tsx';
import { Panel } from '../ui/parts.tsx';
import {
  DriverLink,
  found,
  idIn,
  MapAndFacts,
  pointsOf,
  SourceLink,
  timeIn,
  vehiclePath,
} from '../ui/records.tsx';
import { FullTime, Time } from '../ui/time.tsx';
import { Distance } from '../ui/units.tsx';
import { EventRows } from './history.tsx';
import { durationOf } from './trips.tsx';

/** How many of its vehicle's events are read, the first ones. */
const maxTripEvents = 200;

/** How long a trip without an end is assumed to last, in milliseconds. */
const openTripMs = dayMs;

export async function detail(c: Context) {
  const id = idIn(c);
  const trip = found(await findItem(c.env, c.get('caller'), trips.list, id, timeIn(c.req.query('at'))));
  const [{ vehicle, driver, connection }, events] = await Promise.all([
    findReferences(c.env, c.get('caller'), trip),
    eventsOf(c, trip),
  ]);
  const name = vehicle?.name ?? 'an unknown vehicle';
  return page(
    c,
    {
      title: `Trip of ${name}`,
      lead: <FullTime at={trip.startedAt} />,
      above: [{ href: '/portal/trips', name: 'Trips' }],
    },
    <div class="cols cols-3-2">
      <Panel
        id="events"
        title="Safety events on this trip"
        side={events.length === maxTripEvents && <p>The first {maxTripEvents}</p>}
      >
        <EventRows events={events} of="vehicle" none="No safety events on this trip" />
      </Panel>
      <MapAndFacts
        label={`Trip of ${name}: where it began and ended, and its safety events`}
        points={[...endsOf(trip), ...pointsOf(events)]}
        line={[trip.startLocation, ...events.map(({ location }) => location), trip.endLocation].filter(
          (place) => place !== null,
        )}
        facts={[
          ['Vehicle', vehicle && <a href={vehiclePath(vehicle)}>{vehicle.name}</a>],
          ['Driver', <DriverLink driverId={trip.driverId} driverName={driver?.name} />],
          ['Started', <Moment at={trip.startedAt} place={trip.startLocation} />],
          ['Ended', trip.endedAt && <Moment at={trip.endedAt} place={trip.endLocation} />],
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

/** The beginning and end of a trip, as points of a map. */
const endsOf = ({ startLocation, endLocation }: NamedTrip): MapPoint[] => [
  ...(startLocation ? [{ at: startLocation, name: 'Start', look: 'start' as const }] : []),
  ...(endLocation ? [{ at: endLocation, name: 'End', look: 'end' as const }] : []),
];
