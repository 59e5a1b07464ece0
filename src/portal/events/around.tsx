import type { Child } from 'hono/jsx';
import { eventsWithDrivers, type NamedEvent, readWithin } from '../../fleet/named.ts';
import type { Context } from '../../platform/http/context.ts';
import { speedOf } from '../ui/format.ts';
import { Panel } from '../ui/parts.tsx';
import { eventPath } from '../ui/records.tsx';
import { Risk } from '../ui/states.tsx';
import { Clock } from '../ui/time.tsx';

/** How long before and after a moment the events of its vehicle are shown, in milliseconds; and how many at most. */
export const aroundMs = 3 * 3_600_000;
export const maxAround = 100;

/** What a vehicle did around a moment, oldest first; nothing for an unknown vehicle. */
export async function eventsAround(c: Context, vehicleId: string | null, at: number): Promise<NamedEvent[]> {
  if (!vehicleId) return [];
  const within = { from: at - aroundMs, to: at + aroundMs + 1, limit: maxAround };
  return readWithin(c.env, c.get('caller'), eventsWithDrivers, { of: 'vehicle', id: vehicleId, ...within });
}

/** The moment itself, among the events around it. */
export type Moment = { at: number; text: Child; risk?: number; id?: string };

/** A vehicle's events around a moment as a timeline. */
export const Around = (props: {
  title: string;
  events: NamedEvent[];
  moment: Moment;
  vehicleId: string | null;
}) => {
  const { title, events, moment, vehicleId } = props;
  const others = events.filter(({ id }) => id !== moment.id);
  const before = others.filter(({ startedAt }) => Date.parse(startedAt) <= moment.at);
  return (
    <Panel
      id="around"
      title={title}
      side={vehicleId && <a href={`/portal/events?vehicle=${vehicleId}`}>All its events</a>}
    >
      <ol class="timeline panel-body">
        {before.map((event) => (
          <EventEntry event={event} />
        ))}
        <Entry at={moment.at} here side={moment.risk && <Risk risk={moment.risk} />}>
          {moment.text}
        </Entry>
        {others.slice(before.length).map((event) => (
          <EventEntry event={event} />
        ))}
      </ol>
      {others.length === 0 && (
        <p class="panel-body pt-0 sub">No other safety events from 3 hours before to 3 hours after.</p>
      )}
      {events.length === maxAround && (
        <p class="panel-body pt-0 sub">These are the first {maxAround} events of 6 hours.</p>
      )}
    </Panel>
  );
};

const EventEntry = ({ event }: { event: NamedEvent }) => (
  <Entry at={Date.parse(event.startedAt)} side={<Risk risk={event.eventRisk} />}>
    <a href={eventPath(event)}>{event.translatedIncidentTypes.join(', ')}</a>{' '}
    <span class="sub">{speedOf(event)}</span>
  </Entry>
);

const Entry = (props: { at: number; here?: boolean; side?: Child; children: Child }) => (
  <li class={props.here ? 'here' : undefined}>
    <Clock at={props.at} />
    <svg class={`dot${props.here ? ' dot-main' : ''}`} viewBox="0 0 10 10" aria-hidden="true">
      <circle cx="5" cy="5" r="5" />
    </svg>
    <span>{props.children}</span>
    <span>{props.side}</span>
  </li>
);
