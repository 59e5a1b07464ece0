import { findItem, findReferences } from '../../fleet/find.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import type { Context } from '../../platform/http/context.ts';
import { may } from '../../platform/roles.ts';
import { deliveriesOf } from '../../webhooks/deliveries/queries.ts';
import { TripLink } from '../fleet/trips.tsx';
import { page } from '../ui/layout.tsx';
import { FullPlace } from '../ui/map.tsx';
import {
  DriverLink,
  type FactList,
  found,
  idIn,
  MapAndFacts,
  pointsOf,
  SourceLink,
  timeIn,
} from '../ui/records.tsx';
import { Risk } from '../ui/states.tsx';
import { FullTime, spanInWords, Time } from '../ui/time.tsx';
import { Speed } from '../ui/units.tsx';
import { WhoWasNotified } from './around.tsx';

export async function detail(c: Context) {
  const id = idIn(c);
  const caller = c.get('caller');
  const [stored, { recipients, ...notified }] = await Promise.all([
    findItem(c.env, caller, safetyEvents.list, id, timeIn(c.req.query('at'))),
    deliveriesOf(c.env, caller, id),
  ]);
  const event = found(stored);
  const references = await findReferences(c.env, caller, event);
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
          ...factsOf(event, references),
          // Only people who may see webhooks' URLs in full see email addresses.
          ['Recipients', recipients.length > 0 && maySeeAll ? recipients.join(', ') : null],
        ]}
      />
    </div>,
  );
}

type SafetyEvent = ReturnType<typeof safetyEvents.list.present>;
type FoundReferences = Awaited<ReturnType<typeof findReferences>>;

const factsOf = (event: SafetyEvent, { connection, driver, trip }: FoundReferences): FactList => [
  ['Place', event.location ? <FullPlace place={event.location} /> : <span class="sub">Not given</span>],
  ['Speed', event.maxSpeedKph === null ? null : <Speed {...event} />],
  ['Lasted', event.endedAt && spanInWords(Date.parse(event.endedAt) - Date.parse(event.startedAt))],
  [
    'Type',
    <>
      {event.translatedIncidentTypes.join(', ')}
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
    trip ? <TripLink trip={trip} /> : event.tripId && <a href={`/portal/trips/${event.tripId}`}>Its trip</a>,
  ],
  ['Source', <SourceLink id={event.connectionId} connection={connection} tSP={event.tSP} />],
  ['Received', <Time at={event.createdAt} seconds />],
  ['Event ID', <code class="text-xs">{event.id}</code>],
];
