import { useContext } from 'hono/jsx';
import { validate as isUuid } from 'uuid';
import { findItem } from '../../core/fleet/find.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { by, type Context, orNotFound } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { type MapPlace, type MapPoint, PlaceMap, shortPlaceName } from '../map.tsx';
import { type FactList, Facts, Panel } from '../parts.tsx';
import {
  type Accident,
  accidentsWithVehicles,
  type NamedEvent,
  type NamedTrip,
} from '../read/named-lists.ts';
import { PageReader } from '../reader.ts';
import type { Column } from '../table.tsx';
import { spanInWords, Time } from '../time.tsx';

export const vehiclePath = ({ id }: { id: string }): string => `/portal/vehicles/${id}`;
export const driverPath = ({ id }: { id: string }): string => `/portal/drivers/${id}`;

type Moment = string | number;

/** The pages of single records. Links include the time, by which an archived record is found. */
export const eventPath = ({ id, startedAt }: { id: string; startedAt: Moment }): string =>
  `/portal/events/${id}?at=${new Date(startedAt).getTime()}`;

/** Where an accident's report is opened, through us: the provider's link may have to be a new one. */
export const reportPath = (accident: { eventId: string }): string =>
  `${accidentPath(accident)}/report`;

export const connectionPath = ({ id }: { id: string }): string => `/portal/connections/${id}`;

export const accidentPath = ({ eventId }: { eventId: string }): string =>
  `/portal/accidents/${eventId}`;

export const tripPath = ({ id, startedAt }: { id: string; startedAt: string }): string =>
  `/portal/trips/${id}?at=${Date.parse(startedAt)}`;

/** The time in such a link, in milliseconds since 1970. */
export function timeIn(c: Context): number | undefined {
  const at = c.req.query('at') ?? '';
  return /^\d{1,14}$/.test(at) ? Number(at) : undefined;
}

/** "Safety event" for `safetyEvent`. */
export const kindInWords = (kind: string): string => capital(kind.replace('E', ' e'));

/** The id in a path. @throws Refusal: not found, if it is invalid */
export function idIn(c: Context, name = 'id'): string {
  const id = c.req.param(name)?.toLowerCase() ?? '';
  if (!isUuid(id)) throw new Refusal({ kind: 'not found' });
  return id;
}

/** The accident in the path. @throws Refusal: not found */
export const requireAccident = async (c: Context): Promise<Accident> =>
  orNotFound(await findItem(...by(c), accidentsWithVehicles, idIn(c, 'eventId')));

type Driven = { driverId: string | null; driverName?: string | null | undefined };

/** The name of a record's driver, if known. */
export const DriverName = ({ driverId, driverName }: Driven) =>
  driverName ? driverName : <span class="sub">{driverId ? 'Unknown' : 'Not assigned'}</span>;

const DriverLink = ({ driverId, driverName }: Driven) =>
  driverId ? (
    <a href={driverPath({ id: driverId })}>{driverName ?? 'Unknown'}</a>
  ) : (
    <DriverName driverId={null} />
  );

/** A vehicle with its groups. */
const VehicleLink = (props: { id: string; name: string; groups: string[] }) => (
  <>
    <a href={vehiclePath(props)}>{props.name}</a> <span class="sub">{props.groups.join(', ')}</span>
  </>
);

/** A link to a trip's page: its route, or when it began; with its length. */
const TripLink = ({ trip }: { trip: NamedTrip }) => {
  const isNamed = trip.startLocation?.address || trip.endLocation?.address;
  const { distanceKm: km } = trip;
  return (
    <>
      <a href={tripPath(trip)}>
        {isNamed ? routeOf(trip) : ['Since ', <Time at={trip.startedAt} />]}
      </a>
      {km !== null && [', ', <Distance km={km} />]}
    </>
  );
};

/** "Chambersburg, PA to Carlisle, PA", as far as known. */
export function routeOf({ startLocation: start, endLocation: end }: NamedTrip): string {
  if (start && end) return `${shortPlaceName(start)} to ${shortPlaceName(end)}`;
  if (start) return `From ${shortPlaceName(start)}`;
  return end ? `To ${shortPlaceName(end)}` : '';
}

/** A trip's duration in words, or that it is in progress. */
export function durationOf({ startedAt, endedAt, durationSeconds }: NamedTrip): string {
  if (durationSeconds !== null) return spanInWords(durationSeconds * 1000);
  return endedAt === null
    ? 'In progress'
    : spanInWords(Date.parse(endedAt) - Date.parse(startedAt));
}

type Sourced = {
  connectionId: string;
  connection: { name: string | null; tSP: string } | undefined;
  tSP?: string;
};

/** The connection that a record came from. */
const SourceLink = ({ connectionId, connection, tSP }: Sourced) => (
  <>
    <a href={`/portal/connections/${connectionId}`}>
      {connection?.name ?? tSP ?? connection?.tSP ?? 'Its connection'}
    </a>
    {tSP && <span class="sub"> {tSP}</span>}
  </>
);

/** What a record refers to, and when it was received, as facts with links. */
export const fact = {
  driver: { head: 'Driver', cell: DriverLink },
  vehicle: {
    head: 'Vehicle',
    cell: ({ vehicle }: { vehicle: Parameters<typeof VehicleLink>[0] | undefined }) =>
      vehicle && <VehicleLink {...vehicle} />,
  },
  trip: {
    head: 'Trip',
    cell: ({ trip }: { trip: NamedTrip | undefined }) => trip && <TripLink trip={trip} />,
  },
  source: { head: 'Source', cell: SourceLink },
  received: {
    head: 'Received',
    cell: ({ createdAt }: { createdAt: string }) => <Time at={createdAt} seconds />,
  },
};

/** An item's facts, named and shown as the columns of a table show them. */
export const factsOf = <T,>(item: T, ...columns: Column<T>[]): FactList =>
  columns.map(({ head, cell }) => [head, cell(item)]);

/** A map on its own, if there are points. */
export const MapPanel = (props: Parameters<typeof PlaceMap>[0]) =>
  props.points.length > 0 && (
    <Panel title="Place" hidden>
      <PlaceMap {...props} />
    </Panel>
  );

/** A record on a map, if there are points, and its properties. */
export const MapAndFacts = (props: {
  label: string;
  points: MapPoint[];
  line?: (MapPlace | null)[] | undefined;
  facts: FactList;
}) => (
  <Panel title="Place and facts" hidden>
    <PlaceMap label={props.label} points={props.points} line={props.line} />
    <div class="panel-body pt-4">
      <Facts facts={props.facts} />
    </div>
  </Panel>
);

/** The events with a place, for a map. */
export const pointsOf = (events: Pick<NamedEvent, PointKeys>[]): MapPoint[] =>
  events.flatMap((event) =>
    event.location
      ? [
          {
            at: event.location,
            name: event.translatedIncidentTypes.join(', '),
            look: `risk-${event.eventRisk}` as MapPoint['look'], // a risk is 1 to 5
            href: eventPath(event),
          },
        ]
      : [],
  );

type PointKeys = 'id' | 'startedAt' | 'location' | 'translatedIncidentTypes' | 'eventRisk';

const kmPerMile = 1.609344;
const units = {
  metric: { speed: 'km/h', distance: 'km', of: (km: number) => km },
  imperial: { speed: 'mph', distance: 'mi', of: (km: number) => km / kmPerMile },
};

const rounded = (value: number): string => (Math.round(value * 10) / 10).toLocaleString('en');

/** "91 km/h", with an exceeded limit: "91 km/h, limit 80". */
export const Speed = (event: { maxSpeedKph: number | null; speedLimitKph?: number | null }) => {
  const { speed: unit, of } = units[useContext(PageReader).units];
  const { maxSpeedKph: speed, speedLimitKph: limit = null } = event;
  if (speed === null) return null;
  return (
    <>
      {Math.round(of(speed))} {unit}
      {limit !== null && speed > limit && `, limit ${Math.round(of(limit))}`}
    </>
  );
};

/** "142.7 km"; without decimals if `whole`. */
export const Distance = ({ km, whole = false }: { km: number; whole?: boolean }) => {
  const { distance, of } = units[useContext(PageReader).units];
  return (
    <>
      {rounded(whole ? Math.round(of(km)) : of(km))} {distance}
    </>
  );
};
