import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { findItem, findReferences } from '../../fleet/find.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import { Refusal } from '../../platform/errors.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { deliveriesOf } from '../../webhooks/deliveries/of-event.ts';
import { TripLink } from '../fleet/trip-table.tsx';
import { needs } from '../session/rights.ts';
import { inMph, speedOf } from '../ui/format.ts';
import { page } from '../ui/layout.tsx';
import { Live } from '../ui/live.tsx';
import { FullPlace, PlaceMap } from '../ui/map.tsx';
import { Facts, Panel } from '../ui/parts.tsx';
import { timeIn } from '../ui/record-paths.ts';
import { Risk } from '../ui/states.tsx';
import { Ago, FullTime, spanInWords, Time } from '../ui/time.tsx';
import { Around, eventsAround, pointsOf } from './around.tsx';
import { WhoWasTold } from './notified.tsx';

/** One safety event: where, how fast, who drove, in whose words, and who was told. */
export const eventPage = new Hono<App>().get('/events/:id', needs('viewer'), detail);

async function detail(c: Context) {
  const id = c.req.param('id')?.toLowerCase() ?? '';
  if (!isUuid(id)) throw new Refusal({ kind: 'not found' });
  const caller = c.get('caller');
  const [event, told] = await Promise.all([
    findItem(c.env, caller, safetyEvents.list, id, timeIn(c.req.query('at'))),
    deliveriesOf(c.env, caller, id),
  ]);
  if (!event) throw new Refusal({ kind: 'not found' });
  const at = Date.parse(event.startedAt);
  const [references, events] = await Promise.all([
    findReferences(c.env, caller, event),
    eventsAround(c, event.vehicleId, at),
  ]);
  const types = event.translatedIncidentTypes.join(', ');
  return page(
    c,
    {
      title: `${types}, ${event.vehicleName}`,
      state: <Risk risk={event.eventRisk} named />,
      lead: (
        <>
          <FullTime at={at} />, <Ago at={at} />
        </>
      ),
      above: [{ href: '/portal/events', name: 'Safety events' }],
    },
    <div class="cols cols-3-2">
      <div class="stack">
        <Live id="told-now">
          <WhoWasTold {...told} />
        </Live>
        <Around
          title={`${event.vehicleName} around this event`}
          events={events}
          moment={{ at, text: `${types}, this event`, risk: event.eventRisk, id }}
          vehicleId={event.vehicleId}
        />
      </div>
      <div class="stack">
        <Panel id="where" title="Place and facts" hidden>
          {event.location && (
            <PlaceMap
              label="Map of the event and of the vehicle's events around it"
              points={[
                ...pointsOf(events.filter((other) => other.id !== id)),
                ...pointsOf([event]).map((point) => ({ ...point, here: true })),
              ]}
            />
          )}
          <div class="panel-body pt-4">
            <EventFacts event={event} references={references} />
          </div>
        </Panel>
      </div>
    </div>,
  );
}

type SafetyEvent = ReturnType<typeof safetyEvents.list.present>;
type FoundReferences = Awaited<ReturnType<typeof findReferences>>;

const EventFacts = (props: { event: SafetyEvent; references: FoundReferences }) => {
  const { event, references } = props;
  const { connection, driver, trip } = references;
  return (
    <Facts
      facts={[
        ['Place', event.location ? <FullPlace place={event.location} /> : <span class="sub">Not given</span>],
        [
          'Speed',
          event.maxSpeedKph === null ? null : (
            <>
              {speedOf(event)} <span class="sub">{inMph(event.maxSpeedKph)}</span>
            </>
          ),
        ],
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
        [
          'Driver',
          event.driverId ? (
            <a href={`/portal/drivers/${event.driverId}`}>{driver?.name ?? 'Unknown'}</a>
          ) : (
            <span class="sub">Not assigned</span>
          ),
        ],
        [
          'Trip',
          trip ? (
            <TripLink trip={trip} />
          ) : (
            event.tripId && <a href={`/portal/trips/${event.tripId}`}>Its trip</a>
          ),
        ],
        [
          'Source',
          <>
            <a href={`/portal/connections/${event.connectionId}`}>{connection?.name ?? event.tSP}</a>{' '}
            <span class="sub">{event.tSP}</span>
          </>,
        ],
        ['Received', <Time at={event.createdAt} seconds />],
        ['Event ID', <code class="text-xs">{event.id}</code>],
      ]}
    />
  );
};
