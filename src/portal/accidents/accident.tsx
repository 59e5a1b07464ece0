import { findItem } from '../../core/fleet/find.ts';
import { type Context, orNotFound } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { listAddresses } from '../../people/people.ts';
import { added } from '../../ui/added.ts';
import { Icon } from '../../ui/buttons.tsx';
import { page } from '../../ui/layout.tsx';
import { column } from '../../ui/lists/columns.tsx';
import { fact, factsOf, idIn, MapAndFacts, pointsOf, reportPath } from '../../ui/lists/records.tsx';
import { FullPlace } from '../../ui/map.tsx';
import { AccidentState, Panel } from '../../ui/parts.tsx';
import { accidentsWithVehicles } from '../../ui/read/named-lists.ts';
import { FullTime, Time } from '../../ui/time.tsx';
import { Around, courseOf } from './course.tsx';
import { HandlingPanel, handlesAccident } from './handling.tsx';
import { Levels } from './levels.tsx';
import { Report } from './report.tsx';

/** Handles the page's form. */
export const handle = handlesAccident(detail);

export async function detail(c: Context) {
  const id = idIn(c, 'eventId');
  const caller = c.get('caller');
  const [stored, people] = await Promise.all([
    findItem(c.env, caller, accidentsWithVehicles, id),
    listAddresses(c.env, caller),
  ]);
  const accident = orNotFound(stored);
  const [{ vehicleId, vehicle, connection, events, trip, way }, more] = await Promise.all([
    courseOf(c, accident),
    Promise.all(added(c, 'record').map((part) => part(c, { id, accident }))),
  ]);
  const name = vehicle?.name ?? (accident.vin || 'Unknown vehicle');
  return page(
    c,
    {
      title: accident.location.address
        ? `${name}, ${accident.location.address}`
        : `Accident, ${name}`,
      state: <AccidentState {...accident} />,
      lead: <FullTime at={accident.eventTime} />,
      above: [{ href: '/portal/accidents', name: 'Accidents' }],
      actions: accident.reportUrl && (
        <a class="btn" href={reportPath(accident)} rel="noreferrer">
          <Icon name="file-text" />
          Open the report
        </a>
      ),
    },
    <>
      {more.map(({ above }) => above)}
      <Panel title="Levels" hidden body="pt-4" live>
        <Levels accident={accident} />
      </Panel>
      <div class="cols cols-3-2 cols-lead">
        <HandlingPanel {...{ accident, people }} />
        <div class="stack">
          {more.map(({ main }) => main)}
          <Around title={`${name} around the accident`} {...{ accident, events, vehicleId }} />
        </div>
        <div class="stack">
          <Report accident={accident} />
          <MapAndFacts
            label="Map of the accident and of the vehicle's events around it"
            points={[
              ...pointsOf(events),
              { at: accident.location, name: 'The accident', look: 'accident', here: true },
            ]}
            line={way}
            facts={[
              ['Place', <FullPlace place={accident.location} />],
              ...factsOf({ vehicle }, fact.vehicle),
              ['Plate', accident.licensePlate ?? vehicle?.licensePlate],
              ...factsOf(accident, column.vin),
              ...factsOf(accident.driverId || !trip ? accident : trip, fact.driver),
              ...factsOf(accident, column.speed),
              ['Severity', accident.severity && capital(accident.severity)],
              ['Acceleration', accident.accelerationG && `${accident.accelerationG} g`],
              ['Detected', accident.detectedAt && <Time at={accident.detectedAt} seconds />],
              ...factsOf({ ...accident, trip, connection }, fact.received, fact.trip, fact.source),
              ['Event ID', <code class="text-xs">{id}</code>],
            ]}
          />
        </div>
      </div>
    </>,
  );
}
