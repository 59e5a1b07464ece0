import type { trips } from '../../fleet/lists/trips.ts';
import { distance } from '../ui/format.ts';
import { shortPlaceName } from '../ui/map.tsx';
import { Table } from '../ui/parts.tsx';
import { tripPath } from '../ui/record-paths.ts';
import { spanInWords, Time } from '../ui/time.tsx';

/** A trip, with what people call its vehicle and its driver, as far as that is known. */
export type TripRow = ReturnType<typeof trips.list.present> & {
  vehicleName?: string | null;
  driverName?: string | null;
};

/** Trips, one a row, without the column of what the page is about anyway. */
export const TripTable = (props: { trips: TripRow[]; without?: 'vehicle' | 'driver' }) => {
  const { trips, without } = props;
  const head = [
    'Trip',
    ...(without === 'vehicle' ? [] : ['Vehicle']),
    ...(without === 'driver' ? [] : ['Driver']),
    ...['Distance', 'Duration'],
  ];
  return (
    <Table caption="Trips" flow head={head}>
      {trips.map((trip) => (
        <tr>
          <td class="card-title">
            <a class="cover nowrap" href={tripPath(trip)}>
              <Time at={trip.startedAt} />
            </a>
            <div class="sub">{routeOf(trip)}</div>
          </td>
          {without !== 'vehicle' && <td>{trip.vehicleName ?? <span class="sub">Unknown</span>}</td>}
          {without !== 'driver' && (
            <td>
              {trip.driverName ?? <span class="sub">{trip.driverId ? 'Unknown' : 'Not assigned'}</span>}
            </td>
          )}
          <td class="nowrap">{trip.distanceKm !== null && distance(trip.distanceKm)}</td>
          <td class="nowrap">{durationOf(trip)}</td>
        </tr>
      ))}
    </Table>
  );
};

/** The way to a trip's page: by where it led, if that has names, or by when it began; with its length. */
export const TripLink = ({ trip }: { trip: TripRow }) => {
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
      {trip.distanceKm !== null && `, ${distance(trip.distanceKm)}`}
    </>
  );
};

/** "Chambersburg, PA to Carlisle, PA", as far as it is known; empty if nothing is. */
export function routeOf({
  startLocation,
  endLocation,
}: Pick<TripRow, 'startLocation' | 'endLocation'>): string {
  if (startLocation && endLocation)
    return `${shortPlaceName(startLocation)} to ${shortPlaceName(endLocation)}`;
  if (startLocation) return `From ${shortPlaceName(startLocation)}`;
  return endLocation ? `To ${shortPlaceName(endLocation)}` : '';
}

/** How long a trip took, in words; of one that goes on, that it does. */
export function durationOf({ startedAt, endedAt, durationSeconds }: TripRow): string {
  if (durationSeconds !== null) return spanInWords(durationSeconds * 1000);
  return endedAt === null ? 'Not ended yet' : spanInWords(Date.parse(endedAt) - Date.parse(startedAt));
}
