import { findItem, findReferences } from '../../fleet/find.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import type { Context } from '../../platform/http/context.ts';
import { may } from '../../platform/roles.ts';
import { duration } from '../../platform/text.ts';
import { briefly } from '../../webhooks/alerts/words.ts';
import { type DeliveryOfEvent, deliveriesOf, maxOfEvent } from '../../webhooks/deliveries/read/find.ts';
import { EVENT_LEVEL, levelNames } from '../../webhooks/notifications/types.ts';
import { TripLink } from '../fleet/trips.tsx';
import { Icon } from '../ui/icons.tsx';
import { page } from '../ui/layout.tsx';
import { FullPlace } from '../ui/map.tsx';
import { DriverLink, found, idIn, MapAndFacts, pointsOf, SourceLink, timeIn } from '../ui/records.tsx';
import { Level, Risk, Status } from '../ui/states.tsx';
import { type Column, TablePanel } from '../ui/table.tsx';
import { FullTime, spanInWords, Time } from '../ui/time.tsx';
import { Speed } from '../ui/units.tsx';
import { titleOf } from '../webhooks/words.ts';

export async function detail(c: Context) {
  const id = idIn(c);
  const caller = c.get('caller');
  const [stored, { recipients, ...notified }] = await Promise.all([
    findItem(c.env, caller, safetyEvents.list, id, timeIn(c.req.query('at'))),
    deliveriesOf(c.env, caller, id),
  ]);
  const event = found(stored);
  const { connection, driver, trip } = await findReferences(c.env, caller, event);
  const types = event.translatedIncidentTypes.join(', ');
  const maySeeAll = may(c.get('session').user.role, 'member');
  return page(
    c,
    {
      title: `${types}, ${event.vehicleName}`,
      state: <Risk risk={event.eventRisk} named />,
      lead: <FullTime at={event.startedAt} />,
      above: [{ href: '/portal/events', name: 'Safety events' }],
    },
    <div class="cols cols-3-2">
      <WhoWasNotified {...notified} />
      <MapAndFacts
        label="Map of the event"
        points={pointsOf([event]).map((point) => ({ ...point, here: true }))}
        facts={[
          [
            'Place',
            event.location ? <FullPlace place={event.location} /> : <span class="sub">Not given</span>,
          ],
          ['Speed', event.maxSpeedKph === null ? null : <Speed {...event} />],
          ['Lasted', event.endedAt && spanInWords(Date.parse(event.endedAt) - Date.parse(event.startedAt))],
          [
            'Type',
            <>
              {types}
              <br />
              <span class="sub">
                {event.tSP} calls it <code>{event.incidentTypes.join(', ')}</code>
              </span>
            </>,
          ],
          [
            'Vehicle',
            <>
              <a href={`/portal/vehicles/${event.vehicleId}`}>{event.vehicleName}</a>{' '}
              <span class="sub">{event.vehicleGroups.join(', ')}</span>
            </>,
          ],
          ['VIN', event.vehicleVin && <code>{event.vehicleVin}</code>],
          ['Driver', <DriverLink driverId={event.driverId} driverName={driver?.name} />],
          [
            'Trip',
            trip ? (
              <TripLink trip={trip} />
            ) : (
              event.tripId && <a href={`/portal/trips/${event.tripId}`}>Its trip</a>
            ),
          ],
          ['Source', <SourceLink id={event.connectionId} connection={connection} tSP={event.tSP} />],
          ['Received', <Time at={event.createdAt} seconds />],
          ['Event ID', <code class="text-xs">{event.id}</code>],
          // Only people who may see webhooks' URLs in full see email addresses.
          ['Recipients', recipients.length > 0 && maySeeAll ? recipients.join(', ') : null],
        ]}
      />
    </div>,
  );
}

/** Which webhooks were notified of an event or accident, when, and their receivers' responses; by level. */
export const WhoWasNotified = (props: { deliveries: DeliveryOfEvent[]; complete: boolean }) => {
  const { deliveries, complete } = props;
  const levels = Map.groupBy(deliveries, ({ level }) => level);
  return (
    <TablePanel
      id="notified"
      title="Who was notified"
      side={<a href="/portal/webhooks">All webhooks</a>}
      live
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
      empty={
        <p class="panel-body sub">
          No webhook was notified: none of them subscribed to it, it came in as history, or its deliveries are
          past their retention.
        </p>
      }
    >
      {!complete && (
        <p class="panel-body sub">
          These are the first {maxOfEvent} deliveries at most. A webhook's own page has the others.
        </p>
      )}
    </TablePanel>
  );
};

const columns: Column<DeliveryOfEvent>[] = [
  {
    head: 'Receiver',
    look: 'card-title',
    cell: (delivery) => (
      <span class="flex items-center gap-2">
        <span class="quiet">
          <Icon name="webhook" small />
        </span>
        <a class="cover break-all" href={`/portal/webhooks/${delivery.webhookId}/deliveries/${delivery.id}`}>
          {titleOf(delivery)}
        </a>
      </span>
    ),
  },
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
  {
    head: 'Response',
    cell: ({ last, attempts }) =>
      last ? (
        <>
          {briefly(last)}{' '}
          <span class="sub whitespace-nowrap">
            in {duration(last.durationMs)}
            {attempts > 1 && `, attempt ${attempts}`}
          </span>
        </>
      ) : (
        <span class="sub">Not tried yet</span>
      ),
  },
];
