import type { Child } from 'hono/jsx';
import { findReferences } from '../../core/fleet/find.ts';
import { dayMs, hourMs, minuteMs } from '../../core/platform/durations.ts';
import type { Context } from '../../core/platform/http/context.ts';
import { matched, reading } from '../../ui/added.ts';
import { eventPath, Speed } from '../../ui/lists/records.tsx';
import { Panel, Risk } from '../../ui/parts.tsx';
import {
  type Accident,
  eventsWithDrivers,
  type NamedEvent,
  type NamedTrip,
  readWithin,
  tripsWithNames,
} from '../../ui/read/named-lists.ts';
import { Clock } from '../../ui/time.tsx';

/** How long before and after a moment a vehicle's events are shown, in milliseconds; and how many at most. */
export const aroundMs = 3 * hourMs;
export const maxAround = 100;

/** The vehicle of an accident, its events around it, its trip, and the way there. */
export async function courseOf(c: Context, accident: Accident) {
  const at = Date.parse(accident.eventTime);
  const caller = c.get('caller');
  // Each of the account's connections has its own vehicle with this VIN; the accident's comes first. Without one, several
  // could be meant.
  const { vehicles: same = [] } = await matched(c, { vin: accident.vin });
  const known = [accident.vehicleId, ...same.map((one) => one.id)].filter((one) => one !== null);
  const ids = accident.vehicleId || same.length === 1 ? [...new Set(known)].slice(0, 10) : [];
  const [vehicleId = null] = ids;
  const [{ vehicle, connection }, events, trip] = await Promise.all([
    findReferences(c.env, caller, { ...accident, vehicleId }),
    eventsAround(c, ids, at),
    tripAt(c, ids, at),
  ]);
  const before = events.filter(
    ({ startedAt }) => trip && startedAt >= trip.startedAt && startedAt <= accident.eventTime,
  );
  const way = trip && [
    trip.startLocation,
    ...before.map(({ location }) => location),
    accident.location,
  ];
  return { vehicleId, vehicle, connection, events, trip, way };
}

/** A vehicle's events around a moment, oldest first; `ids` are its ids in all connections. */
async function eventsAround(c: Context, ids: string[], at: number): Promise<NamedEvent[]> {
  if (ids.length === 0) return [];
  const within = { from: at - aroundMs, to: at + aroundMs + 1, limit: maxAround };
  return readWithin(...reading(c), eventsWithDrivers, { of: 'vehicle', ids, ...within });
}

/** The trip that a vehicle was on, preferably one with a driver; `ids` are its ids in all connections. */
async function tripAt(c: Context, ids: string[], at: number): Promise<NamedTrip | undefined> {
  if (ids.length === 0) return undefined;
  const trips = await readWithin(...reading(c), tripsWithNames, {
    ...{
      of: 'vehicle',
      ids,
      from: at - longestTripMs,
      to: at + 1,
      limit: ids.length,
      descending: true,
    },
  });
  // It began at most a day before; one that has just ended counts.
  const during = trips.filter(
    ({ endedAt }) => endedAt === null || Date.parse(endedAt) >= at - justEndedMs,
  );
  return during.find(({ driverId }) => driverId) ?? during[0];
}

const longestTripMs = dayMs;
const justEndedMs = 15 * minuteMs;

/** A vehicle's events around an accident as a timeline. */
export const Around = (props: {
  title: string;
  accident: Accident;
  events: NamedEvent[];
  vehicleId: string | null;
}) => {
  const { title, events, vehicleId } = props;
  const { eventTime } = props.accident;
  const isBefore = ({ startedAt }: NamedEvent) => startedAt <= eventTime;
  return (
    <Panel
      title={title}
      side={vehicleId && <a href={`/portal/events?vehicle=${vehicleId}`}>All events</a>}
    >
      <ol class="timeline panel-body">
        {events.filter(isBefore).map(EventEntry)}
        <Entry at={eventTime} here>
          This accident
        </Entry>
        {events.filter((event) => !isBefore(event)).map(EventEntry)}
      </ol>
      {events.length === 0 && (
        <p class="panel-body pt-0 sub">No other safety events within 3 hours.</p>
      )}
      {events.length === maxAround && (
        <p class="panel-body pt-0 sub">These are the first {maxAround} events of 6 hours.</p>
      )}
    </Panel>
  );
};

const EventEntry = (event: NamedEvent) => (
  <Entry at={event.startedAt} side={<Risk risk={event.eventRisk} />}>
    <a href={eventPath(event)}>{event.translatedIncidentTypes.join(', ')}</a>{' '}
    <span class="sub">
      <Speed {...event} />
    </span>
  </Entry>
);

const Entry = (props: { at: string; here?: boolean; side?: Child; children: Child }) => (
  <li class={props.here ? 'here' : undefined}>
    <Clock at={props.at} />
    <svg class={`dot${props.here ? ' dot-main' : ''}`} viewBox="0 0 10 10" aria-hidden="true">
      <circle cx="5" cy="5" r="5" />
    </svg>
    <span>{props.children}</span>
    <span>{props.side}</span>
  </li>
);
