import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { findItem, findReferences } from '../../fleet/find.ts';
import { trips } from '../../fleet/lists/trips.ts';
import { eventsWithDrivers, type NamedEvent, readNamed } from '../../fleet/named.ts';
import { Refusal } from '../../platform/errors.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { needs } from '../session/rights.ts';
import { distance } from '../ui/format.ts';
import { page } from '../ui/layout.tsx';
import { type Place, PlaceMap, placeName } from '../ui/map.tsx';
import { Empty, Facts, Panel } from '../ui/parts.tsx';
import { timeIn } from '../ui/record-paths.ts';
import { FullTime, Time } from '../ui/time.tsx';
import { driverPath, vehiclePath } from './fleet-tables.tsx';
import { EventRows } from './history.tsx';
import { durationOf } from './trip-table.tsx';
import { eventPoints } from './vehicle.tsx';
import { endsOf, wayOf } from './way.ts';

/** One trip: from where to where, and what happened on the way. */
export const tripPage = new Hono<App>().get('/trips/:id', needs('viewer'), detail);

/** How many events of its vehicle are read at most, the first ones. */
export const maxTripEvents = 200;

/** A trip without an end is taken to go on for so long, in milliseconds. */
const openTripMs = 86_400_000;

async function detail(c: Context) {
  const id = c.req.param('id')?.toLowerCase() ?? '';
  if (!isUuid(id)) throw new Refusal({ kind: 'not found' });
  const trip = await findItem(c.env, c.get('caller'), trips.list, id, timeIn(c.req.query('at')));
  if (!trip) throw new Refusal({ kind: 'not found' });
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
      <div class="stack">
        <Panel
          id="events"
          title="Safety events on this trip"
          side={events.length === maxTripEvents && <p>The first {maxTripEvents}</p>}
        >
          {events.length === 0 ? (
            <Empty icon="shield-check" title="No safety events on this trip" />
          ) : (
            <EventRows events={events} of="vehicle" />
          )}
        </Panel>
      </div>
      <div class="stack">
        <Panel id="facts" title="Places and facts" hidden>
          <PlaceMap
            label={`Trip of ${name}: where it began and ended, and its safety events`}
            points={[...endsOf(trip), ...eventPoints({ events })]}
            line={wayOf(
              trip,
              events.map(({ location }) => location),
            )}
          />
          <div class="panel-body pt-4">
            <Facts
              facts={[
                ['Vehicle', vehicle && <a href={vehiclePath(vehicle.id)}>{vehicle.name}</a>],
                [
                  'Driver',
                  trip.driverId ? (
                    <a href={driverPath(trip.driverId)}>{driver?.name ?? 'Unknown'}</a>
                  ) : (
                    <span class="sub">Not assigned</span>
                  ),
                ],
                ['Started', <Moment at={trip.startedAt} place={trip.startLocation} />],
                ['Ended', trip.endedAt && <Moment at={trip.endedAt} place={trip.endLocation} />],
                ['Duration', durationOf(trip)],
                ['Distance', trip.distanceKm === null ? null : distance(trip.distanceKm)],
                [
                  'Source',
                  <a href={`/portal/connections/${trip.connectionId}`}>
                    {connection?.name ?? connection?.tSP ?? 'Its connection'}
                  </a>,
                ],
                ['Trip ID', <code class="text-xs">{trip.id}</code>],
              ]}
            />
          </div>
        </Panel>
      </div>
    </div>,
  );
}

type Trip = ReturnType<typeof trips.list.present>;

/** The events of the trip's vehicle meanwhile, but for those that the provider counts to another trip. */
async function eventsOf(c: Context, trip: Trip): Promise<NamedEvent[]> {
  const from = Date.parse(trip.startedAt);
  const to = trip.endedAt === null ? from + openTripMs : Date.parse(trip.endedAt);
  const { items } = await readNamed(c.env, c.get('caller'), eventsWithDrivers, {
    connectionId: undefined,
    query: {
      vehicleIds: [trip.vehicleId],
      from: [trip.startedAt],
      to: [new Date(Math.max(from, to) + 1).toISOString()],
      limit: [String(maxTripEvents)],
    },
  });
  return items.filter(({ tripId }) => tripId === null || tripId === trip.id);
}

const Moment = ({ at, place }: { at: string; place: Place | null }) => (
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
