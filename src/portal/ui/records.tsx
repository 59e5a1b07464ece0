import { validate as isUuid } from 'uuid';
import type { NamedEvent } from '../../fleet/named-lists.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { Refusal } from '../../platform/errors.ts';
import type { Context } from '../../platform/http/context.ts';
import { type MapPlace, type MapPoint, PlaceMap } from './map.tsx';
import { Facts, Panel } from './parts.tsx';

export const vehiclePath = ({ id }: { id: string }): string => `/portal/vehicles/${id}`;
export const driverPath = ({ id }: { id: string }): string => `/portal/drivers/${id}`;

type Moment = string | number;

/** The pages of single records. Links include the time, by which an archived record is found. */
export const eventPath = ({ id, startedAt }: { id: string; startedAt: Moment }): string =>
  `/portal/events/${id}?at=${new Date(startedAt).getTime()}`;

/** Where an accident's report is opened, through us: the provider's link may have to be a new one. */
export const reportPath = (accident: { eventId: string }): string => `${accidentPath(accident)}/report`;

export const accidentPath = ({ eventId }: { eventId: string }): string => `/portal/accidents/${eventId}`;

export const tripPath = ({ id, startedAt }: { id: string; startedAt: string }): string =>
  `/portal/trips/${id}?at=${Date.parse(startedAt)}`;

/** The time in such a link, in milliseconds since 1970. */
export const timeIn = (at: string | undefined): number | undefined =>
  at !== undefined && /^\d{1,14}$/.test(at) ? Number(at) : undefined;

/** The id in a path. @throws Refusal: not found, if it is invalid */
export function idIn(c: Context, name = 'id'): string {
  const id = c.req.param(name)?.toLowerCase() ?? '';
  if (!isUuid(id)) throw new Refusal({ kind: 'not found' });
  return id;
}

/** What the id in the path names. @throws Refusal: not found, also for another account's */
export const inPath = async <T,>(
  c: Context,
  find: (env: Env, caller: Caller, id: string) => Promise<T | undefined>,
  name = 'id',
): Promise<T> => found(await find(c.env, c.get('caller'), c.req.param(name) ?? ''));

/** @throws Refusal: not found, if it is missing, or another account's */
export function found<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Refusal({ kind: 'not found' });
  return thing;
}

type Driven = { driverId: string | null; driverName?: string | null | undefined };

/** The name of a record's driver, if known. */
export const DriverName = ({ driverId, driverName }: Driven) =>
  driverName ? driverName : <span class="sub">{driverId ? 'Unknown' : 'Not assigned'}</span>;

export const DriverLink = ({ driverId, driverName }: Driven) =>
  driverId ? (
    <a href={driverPath({ id: driverId })}>{driverName ?? 'Unknown'}</a>
  ) : (
    <DriverName driverId={null} />
  );

/** The connection that a record came from. */
export const SourceLink = (props: {
  id: string;
  connection: { name: string | null; tSP: string } | undefined;
  tSP?: string;
}) => {
  const { id, connection, tSP } = props;
  return (
    <>
      <a href={`/portal/connections/${id}`}>
        {connection?.name ?? tSP ?? connection?.tSP ?? 'Its connection'}
      </a>
      {tSP && <span class="sub"> {tSP}</span>}
    </>
  );
};

export type FactList = Parameters<typeof Facts>[0]['facts'];

/** A record on a map, if there are points, and its properties. */
export const MapAndFacts = (props: {
  label: string;
  points: MapPoint[];
  line?: MapPlace[] | undefined;
  facts: FactList;
}) => (
  <Panel id="facts" title="Place and facts" hidden>
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
