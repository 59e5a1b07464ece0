import { validate as isUuid } from 'uuid';
import { type NamedTrip, readNamed, tripsWithNames } from '../../fleet/named.ts';
import type { Context } from '../../platform/http/context.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { LinkButton } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { shortPlaceName } from '../ui/map.tsx';
import { Chip, type Column, Empty, Pager, Table } from '../ui/parts.tsx';
import { DriverName, driverPath, tripPath, vehiclePath } from '../ui/records.tsx';
import { spanInWords, Time } from '../ui/time.tsx';
import { Distance } from '../ui/units.tsx';

const path = '/portal/trips';

/** The trips of the account, or of one of its vehicles or drivers, newest first. */
export async function list(c: Context) {
  const { vehicle, driver, cursor } = c.req.query();
  const asked = {
    ...(vehicle && isUuid(vehicle) && { vehicle }),
    ...(driver && isUuid(driver) && { driver }),
  };
  const { items: trips, next } = await readNamed(c.env, c.get('caller'), tripsWithNames, {
    connectionId: undefined,
    descending: true,
    query: {
      limit: ['50'],
      ...(asked.vehicle && { vehicleIds: [asked.vehicle.toLowerCase()] }),
      ...(asked.driver && { driverIds: [asked.driver.toLowerCase()] }),
      ...(cursor && { cursor: [cursor] }),
    },
  });
  const [first] = trips;
  const address = `${path}?${new URLSearchParams(asked)}`;
  return page(
    c,
    { title: 'Trips', lead: 'Newest first.' },
    <section class="panel" aria-label="Trips">
      {(asked.vehicle || asked.driver) && (
        <ul class="actions chips py-3" aria-label="Filters that are set">
          {asked.vehicle && (
            <About text={first?.vehicleName ?? 'One vehicle'} page={vehiclePath({ id: asked.vehicle })} />
          )}
          {asked.driver && (
            <About text={first?.driverName ?? 'One driver'} page={driverPath({ id: asked.driver })} />
          )}
        </ul>
      )}
      {trips.length > 0 && <TripTable trips={trips} />}
      {trips.length === 0 && (
        <Empty
          icon="route"
          title={next ? 'No trips on this page' : 'No trips'}
          action={(asked.vehicle || asked.driver) && <LinkButton href={path} name="All trips" />}
        >
          {!next && 'They appear here once a connection has sent them.'}
        </Empty>
      )}
      {(trips.length > 0 || cursor || next) && (
        <Pager
          count={`${counted(trips.length, 'trip', 'trips')}${next ? ', more follow' : ''}`}
          newest={cursor && address}
          older={next && `${address}&cursor=${next}`}
        />
      )}
    </section>,
  );
}

/** What the list is about, with what removes that. */
const About = ({ text, page }: { text: string; page: string }) => (
  <>
    <Chip text={text} href={path} />
    <li>
      <a class="sub underline" href={page}>
        Its page
        <span class="sr-only">: {text}</span>
      </a>
    </li>
  </>
);

/** Trips, one a row, without the column of what the page is about anyway. */
export const TripTable = ({ trips, without }: { trips: NamedTrip[]; without?: 'vehicle' | 'driver' }) => (
  <Table
    caption="Trips"
    columns={columns.filter(({ head }) => head.toLowerCase() !== without)}
    items={trips}
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

/** The way to a trip's page: by where it led, if that has names, or by when it began; with its length. */
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

/** "Chambersburg, PA to Carlisle, PA", as far as it is known; empty if nothing is. */
function routeOf({ startLocation, endLocation }: Pick<NamedTrip, 'startLocation' | 'endLocation'>): string {
  if (startLocation && endLocation)
    return `${shortPlaceName(startLocation)} to ${shortPlaceName(endLocation)}`;
  if (startLocation) return `From ${shortPlaceName(startLocation)}`;
  return endLocation ? `To ${shortPlaceName(endLocation)}` : '';
}

/** How long a trip took, in words; of one that goes on, that it does. */
export function durationOf({ startedAt, endedAt, durationSeconds }: NamedTrip): string {
  if (durationSeconds !== null) return spanInWords(durationSeconds * 1000);
  return endedAt === null ? 'Not ended yet' : spanInWords(Date.parse(endedAt) - Date.parse(startedAt));
}
