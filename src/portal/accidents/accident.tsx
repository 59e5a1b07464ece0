import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { findItem, findReferences } from '../../fleet/find.ts';
import { accidentsWithVehicles, type NamedEvent } from '../../fleet/named.ts';
import { Refusal } from '../../platform/errors.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { deliveriesOf } from '../../webhooks/deliveries/of-event.ts';
import { Around, eventsAround, pointsOf } from '../events/around.tsx';
import { WhoWasTold } from '../events/notified.tsx';
import { type Trip, tripAt } from '../fleet/trip-at.ts';
import { endsOf, wayOf } from '../fleet/way.ts';
import { needs } from '../session/rights.ts';
import { Icon } from '../ui/icons.tsx';
import { page } from '../ui/layout.tsx';
import { Live } from '../ui/live.tsx';
import { type Place, PlaceMap } from '../ui/map.tsx';
import { Panel } from '../ui/parts.tsx';
import { timeIn } from '../ui/record-paths.ts';
import { Ago, FullTime } from '../ui/time.tsx';
import { AccidentFacts } from './accident-facts.tsx';
import { Report } from './accident-report.tsx';
import { type Accident, AccidentState } from './accident-state.tsx';
import { Levels } from './levels.tsx';

/** One accident: how sure it is, where it was, who knows of it, and what its vehicle did around it. */
export const accidentPage = new Hono<App>().get('/accidents/:eventId', needs('viewer'), detail);

async function detail(c: Context) {
  const id = c.req.param('eventId')?.toLowerCase() ?? '';
  if (!isUuid(id)) throw new Refusal({ kind: 'not found' });
  const caller = c.get('caller');
  const [accident, told] = await Promise.all([
    findItem(c.env, caller, accidentsWithVehicles, id, timeIn(c.req.query('at'))),
    deliveriesOf(c.env, caller, id),
  ]);
  if (!accident) throw new Refusal({ kind: 'not found' });
  const at = Date.parse(accident.eventTime);
  const [{ vehicle, connection }, events, trip] = await Promise.all([
    findReferences(c.env, caller, accident),
    eventsAround(c, accident.vehicleId, at),
    tripAt(c, accident.vehicleId, at),
  ]);
  const name = vehicle?.name ?? accident.vin;
  return page(
    c,
    {
      title: accident.location.address ? `${name}, ${accident.location.address}` : `Accident, ${name}`,
      state: (
        <span id="state-now" data-live>
          <AccidentState accident={accident} />
        </span>
      ),
      lead: (
        <>
          <FullTime at={at} />, <Ago at={at} />
        </>
      ),
      above: [{ href: '/portal/accidents', name: 'Accidents' }],
      actions: accident.reportUrl && (
        <a class="btn btn-primary" href={accident.reportUrl} rel="noreferrer">
          <Icon name="file-text" />
          Open the report
        </a>
      ),
    },
    <>
      <Live id="levels-now">
        <Panel id="levels" title="Levels" hidden>
          <div class="panel-body pt-4">
            <Levels accident={accident} />
          </div>
        </Panel>
      </Live>
      <div class="cols cols-3-2">
        <div class="stack">
          <Live id="told-now">
            <WhoWasTold {...told} />
          </Live>
          <Around
            title={`${name} around the accident`}
            events={events}
            moment={{ at, text: 'This accident' }}
            vehicleId={accident.vehicleId}
          />
        </div>
        <div class="stack">
          <Live id="report-now">
            <Report accident={accident} />
          </Live>
          <Panel id="where" title="Place and facts" hidden>
            <PlaceMap
              label="Map of the accident, its trip and the vehicle's events around it"
              points={[
                ...(trip ? endsOf(trip) : []),
                ...pointsOf(events),
                { at: accident.location, name: 'The accident', look: 'accident', here: true },
              ]}
              line={trip && wayThrough(accident, trip, events)}
            />
            <div class="panel-body pt-4">
              <AccidentFacts {...{ accident, vehicle, connection, events, trip }} />
            </div>
          </Panel>
        </div>
      </div>
    </>,
  );
}

/** The way of the accident's trip: from its start by its events and the accident, as they happened. */
function wayThrough(accident: Accident, trip: Trip, events: NamedEvent[]): Place[] {
  const onTrip = events.filter(
    ({ startedAt, tripId }) =>
      startedAt >= trip.startedAt &&
      (trip.endedAt === null || startedAt <= trip.endedAt) &&
      [null, trip.id].includes(tripId),
  );
  const before = onTrip.filter(({ startedAt }) => startedAt <= accident.eventTime);
  const placesOf = (those: NamedEvent[]) => those.map(({ location }) => location);
  return wayOf(trip, [...placesOf(before), accident.location, ...placesOf(onTrip.slice(before.length))]);
}
