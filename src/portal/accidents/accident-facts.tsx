import type { findReferences } from '../../fleet/find.ts';
import type { NamedEvent } from '../../fleet/named.ts';
import type { Trip } from '../fleet/trip-at.ts';
import { TripLink } from '../fleet/trip-table.tsx';
import { FullPlace } from '../ui/map.tsx';
import { Facts } from '../ui/parts.tsx';
import type { Accident } from './accident-state.tsx';

type References = Pick<Awaited<ReturnType<typeof findReferences>>, 'vehicle' | 'connection'>;
type Props = References & { accident: Accident; events: NamedEvent[]; trip: Trip | undefined };

/** Where an accident was, whose vehicle and driver, and where we know it from. */
export const AccidentFacts = ({ accident, vehicle, connection, events, trip }: Props) => (
  <Facts
    facts={[
      ['Place', <FullPlace place={accident.location} />],
      [
        'Vehicle',
        vehicle && (
          <>
            <a href={`/portal/vehicles/${vehicle.id}`}>{vehicle.name}</a>{' '}
            <span class="sub">{vehicle.groups.join(', ')}</span>
          </>
        ),
      ],
      ['Plate', vehicle?.licensePlate],
      ['VIN', <code>{accident.vin}</code>],
      ['Driver', <Driver trip={trip} events={events} at={Date.parse(accident.eventTime)} />],
      ['Trip', trip && <TripLink trip={trip} />],
      [
        'Source',
        <>
          <a href={`/portal/connections/${accident.connectionId}`}>{connection?.name ?? accident.tSP}</a>{' '}
          <span class="sub">{accident.tSP}</span>
        </>,
      ],
      ['Event ID', <code class="text-xs">{accident.eventId}</code>],
    ]}
  />
);

/** The driver of the trip; without one, that of the event that is closest to the accident. */
const Driver = (props: { trip: Trip | undefined; events: NamedEvent[]; at: number }) => {
  const { trip, events, at } = props;
  const away = ({ startedAt }: NamedEvent) => Math.abs(Date.parse(startedAt) - at);
  const [closest] = events.filter(({ driverId }) => driverId).sort((a, b) => away(a) - away(b));
  const known = trip?.driverId ? trip : closest;
  if (!known?.driverId) return <span class="sub">Not known</span>;
  return (
    <>
      <a href={`/portal/drivers/${known.driverId}`}>{known.driverName ?? 'Unknown'}</a>{' '}
      <span class="sub">{known === trip ? 'from the trip' : 'from the closest event'}</span>
    </>
  );
};
