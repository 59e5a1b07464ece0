import type { Child } from 'hono/jsx';
import { eventsWithDrivers, type NamedEvent, readWithin } from '../../fleet/named.ts';
import { hourMs } from '../../platform/durations.ts';
import type { Context } from '../../platform/http/context.ts';
import { briefly, duration } from '../../webhooks/alerts/words.ts';
import { type DeliveryOfEvent, maxOfEvent } from '../../webhooks/deliveries/queries.ts';
import { EVENT_LEVEL, levelNames } from '../../webhooks/notifications/types.ts';
import { Icon } from '../ui/icons.tsx';
import { Panel } from '../ui/parts.tsx';
import { eventPath } from '../ui/records.tsx';
import { Level, Risk, Status } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Clock, Time } from '../ui/time.tsx';
import { Speed } from '../ui/units.tsx';
import { titleOf } from '../webhooks/words.ts';

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
  const here = (
    <Entry at={at} here>
      This accident
    </Entry>
  );
  const entries = [
    ...events.map((event) => ({ at: Date.parse(event.startedAt), entry: <EventEntry event={event} /> })),
    { at, entry: here },
  ].toSorted((one, other) => one.at - other.at);
  return (
    <Panel
      id="around"
      title={title}
      side={vehicleId && <a href={`/portal/events?vehicle=${vehicleId}`}>All events</a>}
    >
      <ol class="timeline panel-body">{entries.map(({ entry }) => entry)}</ol>
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

/** Which webhooks were notified of an event or accident, when, and their receivers' responses; by level. */
export const WhoWasNotified = (props: { deliveries: DeliveryOfEvent[]; complete: boolean }) => {
  const { deliveries, complete } = props;
  const levels = Map.groupBy(deliveries, ({ level }) => level);
  return (
    <Panel id="notified" title="Who was notified" side={<a href="/portal/webhooks">All webhooks</a>} live>
      <Table
        caption="Deliveries"
        look="data-cards data-flow mt-1"
        columns={columns}
        groups={[...levels].map(([level, items]) => ({
          name: level !== EVENT_LEVEL && (
            <span class="flex items-center gap-2">
              <Level level={level} />
              <span>{levelNames[level - 1]}</span>
            </span>
          ),
          items,
        }))}
        empty={nobody}
      />
      {!complete && (
        <p class="panel-body sub">
          These are the first {maxOfEvent} deliveries at most. A webhook's own page has the others.
        </p>
      )}
    </Panel>
  );
};

const nobody = (
  <p class="panel-body sub">
    No webhook was notified: none of them subscribed to it, it came in as history, or its deliveries are past
    their retention.
  </p>
);

const columns: Column<DeliveryOfEvent>[] = [
  { head: 'Receiver', look: 'card-title', cell: (delivery) => <Receiver {...delivery} /> },
  {
    head: 'Sent',
    look: 'nowrap',
    cell: ({ last, createdAt }) => <Time at={last?.at ?? createdAt} seconds />,
  },
  {
    head: 'State',
    look: 'card-side nowrap',
    cell: (delivery) => <Status delivery={delivery} webhook={delivery} />,
  },
  { head: 'Response', cell: (delivery) => <Response delivery={delivery} /> },
];

const Receiver = ({ id, webhookId, name, url }: DeliveryOfEvent) => (
  <span class="flex items-center gap-2">
    <span class="quiet">
      <Icon name="webhook" small />
    </span>
    <a class="cover break-all" href={`/portal/webhooks/${webhookId}/deliveries/${id}`}>
      {titleOf({ name, url })}
    </a>
  </span>
);

const Response = ({ delivery: { last, attempts } }: { delivery: DeliveryOfEvent }) => {
  if (!last) return <span class="sub">Not tried yet</span>;
  return (
    <>
      {briefly(last)}{' '}
      <span class="sub whitespace-nowrap">
        in {duration(last.durationMs)}
        {attempts > 1 && `, attempt ${attempts}`}
      </span>
    </>
  );
};
