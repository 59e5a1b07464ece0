import type { Child } from 'hono/jsx';
import { eventsWithDrivers, type NamedEvent, readWithin } from '../../fleet/named-lists.ts';
import { hourMs } from '../../platform/durations.ts';
import type { Context } from '../../platform/http/context.ts';
import { levelNames } from '../../webhooks/notifications/types.ts';
import type { Accident } from '../ui/accidents.tsx';
import { Panel } from '../ui/parts.tsx';
import { eventPath } from '../ui/records.tsx';
import { Risk } from '../ui/states.tsx';
import { Clock, spanInWords, Time } from '../ui/time.tsx';
import { Speed } from '../ui/units.tsx';

/** The three levels of an accident as steps, each with when it was received and how long after the previous one. */
export const Levels = ({ accident }: { accident: Accident }) => {
  const { notificationLevel, dismissed } = accident;
  return (
    <ol class="levels levels-row">
      {levelNames.map((name, i) => {
        const level = i + 1;
        const done = level <= notificationLevel;
        const next = level === notificationLevel + 1 && !dismissed;
        const received = receivedIn(accident, level);
        return (
          <li class={done ? 'done' : next ? 'now' : undefined} aria-current={next ? 'step' : undefined}>
            <span class="step" aria-hidden="true">
              {level}
            </span>
            <strong>{name}</strong>
            <span>
              {received && <Time at={received.at} seconds />}{' '}
              <span class="sub">
                {received?.after}
                {!received && done && 'Not reported on its own'}
                {!received && !done && (dismissed ? 'Not reached' : 'Not yet')}
              </span>
            </span>
            <span class="sub">{meaningOf(accident, level)}</span>
          </li>
        );
      })}
    </ol>
  );
};

/** When a level was received, and how long after the one before it: "8 s after the accident", then "+1 min 56 s". */
function receivedIn({ levels, eventTime }: Accident, level: number) {
  const at = levels.find(({ notificationLevel }) => notificationLevel === level)?.receivedAt;
  if (!at) return undefined;
  const before = levels.filter(({ notificationLevel }) => notificationLevel < level).at(-1);
  const span = spanInWords(Date.parse(at) - Date.parse(before?.receivedAt ?? eventTime));
  return { at, after: before ? `+${span}` : `${span} after the accident` };
}

function meaningOf(accident: Accident, level: number): string {
  const { notificationLevel, isAccurate, dismissed, tSP, reportUrl } = accident;
  if (dismissed && level > notificationLevel) return 'It was a false alarm';
  if (level === 1) return `From ${tSP}, unverified`;
  if (level === 2) {
    if (notificationLevel < 2) return 'Whether it was an accident';
    return isAccurate ? 'Confirmed as an accident' : 'Not confirmed';
  }
  if (notificationLevel < 3) return 'The full report';
  return reportUrl ? `At ${new URL(reportUrl).host}` : `At ${tSP}`;
}

/** How long before and after a moment a vehicle's events are shown, in milliseconds; and how many at most. */
export const aroundMs = 3 * hourMs;
export const maxAround = 100;

/** A vehicle's events around a moment, oldest first; `ids` are its ids in all connections. */
export async function eventsAround(c: Context, ids: string[], at: number): Promise<NamedEvent[]> {
  if (ids.length === 0) return [];
  const within = { from: at - aroundMs, to: at + aroundMs + 1, limit: maxAround };
  return readWithin(c.env, c.get('caller'), eventsWithDrivers, { of: 'vehicle', ids, ...within });
}

/** A vehicle's events around an accident as a timeline. */
export const Around = (props: {
  title: string;
  events: NamedEvent[];
  at: number;
  vehicleId: string | null;
}) => {
  const { title, events, at, vehicleId } = props;
  const isBefore = ({ startedAt }: NamedEvent) => Date.parse(startedAt) <= at;
  return (
    <Panel
      id="around"
      title={title}
      side={vehicleId && <a href={`/portal/events?vehicle=${vehicleId}`}>All events</a>}
    >
      <ol class="timeline panel-body">
        {events.filter(isBefore).map((event) => (
          <EventEntry event={event} />
        ))}
        <Entry at={at} here>
          This accident
        </Entry>
        {events
          .filter((event) => !isBefore(event))
          .map((event) => (
            <EventEntry event={event} />
          ))}
      </ol>
      {events.length === 0 && <p class="panel-body pt-0 sub">No other safety events within 3 hours.</p>}
      {events.length === maxAround && (
        <p class="panel-body pt-0 sub">These are the first {maxAround} events of 6 hours.</p>
      )}
    </Panel>
  );
};

const EventEntry = ({ event }: { event: NamedEvent }) => (
  <Entry at={Date.parse(event.startedAt)} side={<Risk risk={event.eventRisk} />}>
    <a href={eventPath(event)}>{event.translatedIncidentTypes.join(', ')}</a>{' '}
    <span class="sub">
      <Speed {...event} />
    </span>
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
