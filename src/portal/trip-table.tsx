import type { trips } from '../fleet/trips.ts';
import { tripPath } from './record-paths.ts';
import { placeName } from './ui/map.tsx';
import { Table } from './ui/parts.tsx';
import { spanInWords, Time } from './ui/time.tsx';
import { distance } from './units.ts';

/** A trip, with what people call its vehicle and its driver, as far as that is known. */
export type TripRow = ReturnType<typeof trips.list.present> & {
  vehicleName?: string | null;
  driverName?: string | null;
};

/** Trips, one a row, without the column of what the page is about anyway. */
export const TripTable = (props: { trips: TripRow[]; without?: 'vehicle' | 'driver' }) => {
  const { trips, without } = props;
  const head = [
    'Started',
    ...(without === 'vehicle' ? [] : ['Vehicle']),
    ...(without === 'driver' ? [] : ['Driver']),
    ...['From', 'To', 'Distance', 'Duration'],
  ];
  return (
    <Table caption="Trips" flow head={head}>
      {trips.map((trip) => (
        <tr>
          <td class="card-title nowrap">
            <a class="cover" href={tripPath(trip)}>
              <Time at={trip.startedAt} />
            </a>
          </td>
          {without !== 'vehicle' && <td>{trip.vehicleName ?? <span class="sub">Unknown</span>}</td>}
          {without !== 'driver' && (
            <td>
              {trip.driverName ?? <span class="sub">{trip.driverId ? 'Unknown' : 'Not assigned'}</span>}
            </td>
          )}
          <td>{trip.startLocation && placeName(trip.startLocation)}</td>
          <td>{trip.endLocation && placeName(trip.endLocation)}</td>
          <td class="nowrap">{trip.distanceKm !== null && distance(trip.distanceKm)}</td>
          <td class="nowrap">{durationOf(trip)}</td>
        </tr>
      ))}
    </Table>
  );
};

/** How long a trip took, in words; of one that goes on, that it does. */
export function durationOf({ startedAt, endedAt, durationSeconds }: TripRow): string {
  if (durationSeconds !== null) return spanInWords(durationSeconds * 1000);
  return endedAt === null ? 'Not ended yet' : spanInWords(Date.parse(endedAt) - Date.parse(startedAt));
}
