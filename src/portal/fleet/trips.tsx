import { validate as isUuid } from 'uuid';
import { type NamedTrip, tripsWithNames } from '../../fleet/named.ts';
import type { Context } from '../../platform/http/context.ts';
import { browse } from '../ui/browse.tsx';
import { shortPlaceName } from '../ui/map.tsx';
import { Empty } from '../ui/parts.tsx';
import { DriverName, tripPath } from '../ui/records.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { spanInWords, Time } from '../ui/time.tsx';
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
    table: (trips) => <TripTable trips={trips} />,
    empty: (
      <Empty icon="route" title="No trips">
        They appear here once a connection has sent them.
      </Empty>
    ),
  });
}

/** Trips as rows, without the vehicle or driver of the page; or `none`. */
export const TripTable = (props: { trips: NamedTrip[]; without?: 'vehicle' | 'driver'; none?: string }) => (
  <Table
    caption="Trips"
    columns={columns.filter(({ head }) => head.toLowerCase() !== props.without)}
    items={props.trips}
    empty={props.none && <Empty icon="route" title={props.none} />}
  />
);

const columns: Column<NamedTrip>[] = [
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
export function durationOf({ startedAt, endedAt, durationSeconds }: NamedTrip): string {
  if (durationSeconds !== null) return spanInWords(durationSeconds * 1000);
  return endedAt === null ? 'In progress' : spanInWords(Date.parse(endedAt) - Date.parse(startedAt));
}
