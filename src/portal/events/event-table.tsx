import type { NamedEvent } from '../../fleet/named.ts';
import { dayName } from '../ui/days.ts';
import { speedOf } from '../ui/format.ts';
import { shortPlaceName } from '../ui/map.tsx';
import { eventPath } from '../ui/record-paths.ts';
import { Risk } from '../ui/states.tsx';
import { Clock, dayIn } from '../ui/time.tsx';

const columns = ['Incident', 'Risk', 'Vehicle', 'Driver', 'Place', 'Speed', 'Source', 'Time'];

/** Safety events in their order, by the day that they have in the reader's zone. */
export const EventTable = (props: {
  events: NamedEvent[];
  connections: Map<string, string>;
  zone: string;
}) => {
  const { events, connections, zone } = props;
  const days = Map.groupBy(events, ({ startedAt }) => dayIn(zone, Date.parse(startedAt)));
  return (
    <table class="data data-cards data-flow border-t border-line">
      <caption class="sr-only">Safety events</caption>
      <thead>
        <tr>
          {columns.map((name) => (
            <th scope="col">{name}</th>
          ))}
        </tr>
      </thead>
      {[...days].map(([day, those]) => (
        <tbody>
          <tr class="group-row">
            <th scope="rowgroup" colspan={columns.length}>
              {dayName(zone, day)}
            </th>
          </tr>
          {those.map((event) => (
            <Row event={event} source={connections.get(event.connectionId) ?? event.tSP} />
          ))}
        </tbody>
      ))}
    </table>
  );
};

const Row = ({ event, source }: { event: NamedEvent; source: string }) => (
  <tr>
    <td class="card-title">
      <a class="cover" href={eventPath(event)}>
        {event.translatedIncidentTypes.join(', ')}
      </a>
    </td>
    <td class="card-side nowrap">
      <Risk risk={event.eventRisk} named />
    </td>
    <td>{event.vehicleName}</td>
    <td>{event.driverName ?? <span class="sub">{event.driverId ? 'Unknown' : 'Not assigned'}</span>}</td>
    <td>{event.location && shortPlaceName(event.location)}</td>
    <td class="nowrap">{speedOf(event)}</td>
    <td class="sub">{source}</td>
    <td class="nowrap">
      <Clock at={event.startedAt} />
    </td>
  </tr>
);
