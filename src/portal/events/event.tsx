import { findItem, findReferences } from '../../fleet/find.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import type { NamedEvent } from '../../fleet/named-lists.ts';
import type { Context } from '../../platform/http/context.ts';
import { may } from '../../platform/roles.ts';
import { deliveriesOf } from '../../webhooks/deliveries/read/find.ts';
import { column } from '../ui/columns.tsx';
import { page } from '../ui/layout.tsx';
import { FullPlace } from '../ui/map.tsx';
import {
  DriverLink,
  factsOf,
  found,
  idIn,
  MapAndFacts,
  pointsOf,
  SourceLink,
  TripLink,
  timeIn,
  VehicleLink,
} from '../ui/records.tsx';
import { Risk } from '../ui/states.tsx';
import { FullTime, spanInWords, Time } from '../ui/time.tsx';
import { WhoWasNotified } from './notified.tsx';

export async function detail(c: Context) {
  const id = idIn(c);
  const caller = c.get('caller');
  const [stored, { recipients, ...notified }] = await Promise.all([
    findItem(c.env, caller, safetyEvents.list, id, timeIn(c)),
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
          ...factsOf(event, column.speed),
          ['Lasted', event.endedAt && spanInWords(Date.parse(event.endedAt) - Date.parse(event.startedAt))],
          ['Type', <Types event={event} />],
          [
            'Vehicle',
            <VehicleLink id={event.vehicleId} name={event.vehicleName} groups={event.vehicleGroups} />,
          ],
          ...factsOf(event, column.vehicleVin),
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
          ['Recipients', maySeeAll && recipients.join(', ')],
        ]}
      />
    </div>,
  );
}

const Types = ({ event: { translatedIncidentTypes, tSP, incidentTypes } }: { event: NamedEvent }) => (
  <>
    {translatedIncidentTypes.join(', ')}
    <br />
    <span class="sub">
      {tSP} calls it <code>{incidentTypes.join(', ')}</code>
    </span>
  </>
);
