import { findReferences } from '../../core/fleet/find.ts';
import { incidentTypes } from '../../core/fleet/incidents/types.ts';
import { safetyEvents } from '../../core/fleet/lists/safety-events.ts';
import { by, type Context, orNotFound } from '../../core/platform/http/context.ts';
import { added, findListed } from '../../ui/added.ts';
import { type Offered, offered } from '../../ui/forms/forms.tsx';
import { page, timeZoneOf } from '../../ui/layout.tsx';
import { column } from '../../ui/lists/columns.tsx';
import { addressOf, nameOf } from '../../ui/lists/filters.tsx';
import { type RecordList, recordFile, recordPage } from '../../ui/lists/list.tsx';
import { fact, factsOf, idIn, MapPanel, pointsOf, timeIn } from '../../ui/lists/records.tsx';
import { FullPlace } from '../../ui/map.tsx';
import { EventState, Facts, Panel, riskOptions } from '../../ui/parts.tsx';
import { eventsWithDrivers, type NamedEvent } from '../../ui/read/named-lists.ts';
import { Clock, dayIn, FullTime, spanInWords } from '../../ui/time.tsx';

const types: Offered[] = [['', 'All types'], ...offered(incidentTypes)];

const events = {
  path: '/portal/events',
  title: 'Safety events',
  words: ['event', 'events'],
  list: eventsWithDrivers,
  usualDays: 7,
  filters: {
    risk: { label: 'Risk', options: riskOptions('Any'), parameter: 'minEventRisk' },
    type: { label: 'Incident', options: types, parameter: 'eventTypes' },
    vehicle: { label: 'Vehicle', placeholder: 'Name or plate' },
    driver: { label: 'Driver', placeholder: 'Name' },
    vin: { label: 'VIN' },
    connection: { label: 'Connection' },
  },
  file: {
    name: 'safety-events',
    columns: safetyEvents.itemFields,
    heads: {
      ...{ translatedIncidentTypes: 'Incident', eventRisk: 'Risk', vehicleName: 'Vehicle' },
      ...{ driverName: 'Driver', 'location.address': 'Place', maxSpeedKph: 'Speed (km/h)' },
      ...{ connectionName: 'Source', startedAt: 'Time', vehicleVin: 'VIN' },
    },
  },
  show: ({ asked, words, connections }) => ({
    // "Risk 4 and 5, November 16 – 22", "Speeding, November 20".
    lead: [asked.risk && words.risk, asked.type, words.from].filter(Boolean).join(', '),
    columns: [
      ...[column.incident, column.risk, column.vehicle, column.driver, column.place, column.speed],
      {
        head: 'Source',
        look: 'sub',
        cell: ({ connectionId, tSP }) => nameOf(connections, connectionId) ?? tSP,
      },
      { ...column.started, cell: ({ startedAt }) => <Clock at={startedAt} /> },
    ],
    at: ({ startedAt }) => startedAt,
    empty: {
      icon: 'shield-check',
      title: 'No safety events in the last 7 days',
      text: 'New events appear here as they arrive.',
    },
  }),
} satisfies RecordList<NamedEvent>;

export const list = recordPage(events);
export const file = recordFile(events);

export async function detail(c: Context) {
  const event = orNotFound(await findListed(c, safetyEvents.list, idIn(c), timeIn(c)));
  const [{ connection, driver, trip }, more] = await Promise.all([
    findReferences(...by(c), event),
    Promise.all(added(c, 'record').map((part) => part(c, { id: event.id }))),
  ]);
  const { vehicleId: id, vehicleName: name, vehicleGroups: groups } = event;
  const about = {
    ...event,
    vehicle: { id, name, groups },
    driverName: driver?.name,
    connection,
    trip,
  };
  const types = event.translatedIncidentTypes.join(', ');
  return page(
    c,
    {
      title: `${types}, ${event.vehicleName}`,
      state: EventState(event),
      lead: <FullTime at={event.startedAt} />,
      above: [{ href: '/portal/events', name: 'Safety events' }],
    },
    <div class="cols cols-3-2">
      <div class="stack">
        <MapPanel
          label="Map of the event"
          points={pointsOf([event]).map((point) => ({ ...point, here: true }))}
        />
        {more.map(({ main }) => main)}
      </div>
      <Panel title="Facts" hidden body="pt-4">
        <Facts
          facts={[
            [
              'Place',
              event.location ? (
                <FullPlace place={event.location} />
              ) : (
                <span class="sub">Not given</span>
              ),
            ],
            ...factsOf(event, column.speed),
            [
              'Lasted',
              event.endedAt && spanInWords(Date.parse(event.endedAt) - Date.parse(event.startedAt)),
            ],
            ['Type', <Types event={event} />],
            ...factsOf(
              about,
              fact.vehicle,
              column.vehicleVin,
              fact.driver,
              fact.trip,
              fact.source,
              fact.received,
            ),
            // It was not received yet, or is in the archive, where only its time would find it.
            ['Trips', event.tripId && !trip && <a href={tripsAround(c, event)}>Of that day</a>],
            ['Event ID', <code class="text-xs">{event.id}</code>],
            ...more.flatMap(({ facts = [] }) => facts),
          ]}
        />
      </Panel>
    </div>,
  );
}

/** The trips of an event's vehicle on its day. */
function tripsAround(c: Context, { vehicleId: vehicle, startedAt }: NamedEvent): string {
  const day = dayIn(timeZoneOf(c), Date.parse(startedAt));
  return addressOf('/portal/trips', { vehicle, from: day, to: day });
}

const Types = ({
  event: { translatedIncidentTypes, tSP, incidentTypes },
}: {
  event: NamedEvent;
}) => (
  <>
    {translatedIncidentTypes.join(', ')}
    <br />
    <span class="sub">
      {tSP} calls it <code>{incidentTypes.join(', ')}</code>
    </span>
  </>
);
