import * as v from 'valibot';
import { type Handling, handleAccident, handlings, maxNote } from '../../fleet/accidents/handle.ts';
import { findItem, findReferences } from '../../fleet/find.ts';
import { accidentsWithVehicles } from '../../fleet/named-lists.ts';
import { matchFleet } from '../../fleet/search.ts';
import { Refusal } from '../../platform/errors.ts';
import { Line } from '../../platform/fields.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { capital } from '../../platform/text.ts';
import { findReport } from '../../providers/report.ts';
import { deliveriesOf } from '../../webhooks/deliveries/read/find.ts';
import { NobodyNotified } from '../connections/health.tsx';
import { WhoWasNotified } from '../events/event.tsx';
import { TripLink, tripAt } from '../fleet/trips.tsx';
import { type Accident, AccidentState } from '../ui/accidents.tsx';
import { Submit } from '../ui/buttons.tsx';
import { Field, Form } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { page } from '../ui/layout.tsx';
import { FullPlace } from '../ui/map.tsx';
import { Facts, Live, Panel } from '../ui/parts.tsx';
import {
  accidentPath,
  DriverLink,
  found,
  idIn,
  MapAndFacts,
  pointsOf,
  reportPath,
  SourceLink,
  vehiclePath,
} from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { done, parseForm, submit } from '../ui/submit.ts';
import { FullTime, Time } from '../ui/time.tsx';
import { Speed } from '../ui/units.tsx';
import { Around, eventsAround, Levels } from './course.tsx';

/** Handles the page's form. */
export async function handle(c: Context) {
  const caller = c.get('caller');
  const accident = found(await findItem(c.env, caller, accidentsWithVehicles, idIn(c, 'eventId')));
  return submit(
    c,
    async (form) => {
      const [does] = Object.keys(handlings).filter((one): one is Handling => one === form.value('do'));
      if (!does) throw new Refusal({ kind: 'not found' });
      const { note } = parseForm(Note, form);
      const by = c.get('session').user.email;
      const changed = await handleAccident(c.env, caller, accident, { does, by, note: note || null });
      const nothing = 'Nothing was changed: somebody else has done it already.';
      return changed
        ? done(c, accidentPath(accident), `The accident is ${handlings[does]}.`)
        : done(c, accidentPath(accident), nothing, 'warn');
    },
    () => detail(c),
  );
}

/** Opens the report at the provider. */
export async function openReport(c: Context) {
  const caller = c.get('caller');
  const accident = found(await findItem(c.env, caller, accidentsWithVehicles, idIn(c, 'eventId')));
  const report = await findReport(c.env, caller, accident);
  return 'link' in report
    ? seeOther(c, report.link)
    : done(c, accidentPath(accident), report.missing, 'warn');
}

const Note = v.object({ note: Line(maxNote) });

export async function detail(c: Context) {
  const id = idIn(c, 'eventId');
  const caller = c.get('caller');
  const [stored, { recipients: _, isCovered, ...notified }] = await Promise.all([
    findItem(c.env, caller, accidentsWithVehicles, id),
    deliveriesOf(c.env, caller, id),
  ]);
  const accident = found(stored);
  const at = Date.parse(accident.eventTime);
  // Each of the account's connections has its own vehicle with this VIN; the accident's comes first. Without one, several
  // could be meant.
  const { vehicles: same = [] } = await matchFleet(c.env, caller, { vin: accident.vin });
  const known = [accident.vehicleId, ...same.map((one) => one.id)].filter((one) => one !== null);
  const ids = accident.vehicleId || same.length === 1 ? [...new Set(known)].slice(0, 10) : [];
  const [{ vehicle, connection }, events, trip] = await Promise.all([
    findReferences(c.env, caller, { ...accident, vehicleId: ids[0] ?? null }),
    eventsAround(c, ids, at),
    tripAt(c, ids, at),
  ]);
  const name = vehicle?.name ?? (accident.vin || 'Unknown vehicle');
  const before = events.filter(
    ({ startedAt }) => trip && startedAt >= trip.startedAt && startedAt <= accident.eventTime,
  );
  const way = trip && [trip.startLocation, ...before.map(({ location }) => location), accident.location];
  return page(
    c,
    {
      title: accident.location.address ? `${name}, ${accident.location.address}` : `Accident, ${name}`,
      state: <AccidentState accident={accident} />,
      lead: <FullTime at={at} />,
      above: [{ href: '/portal/accidents', name: 'Accidents' }],
      actions: accident.reportUrl && (
        <a class="btn btn-primary" href={reportPath(accident)} rel="noreferrer">
          <Icon name="file-text" />
          Open the report
        </a>
      ),
    },
    <>
      <Live id="covered-now">
        {!isCovered && !accident.dismissed && !accident.closed && <NobodyNotified />}
      </Live>
      <Panel id="levels" title="Levels" hidden body="pt-4" live>
        <Levels accident={accident} />
      </Panel>
      <div class="cols cols-3-2">
        <div class="stack">
          <WhoWasNotified {...notified} />
          <Around title={`${name} around the accident`} events={events} at={at} vehicleId={ids[0] ?? null} />
        </div>
        <div class="stack">
          <Report accident={accident} />
          <HandlingPanel accident={accident} />
          <MapAndFacts
            label="Map of the accident and of the vehicle's events around it"
            points={[
              ...pointsOf(events),
              { at: accident.location, name: 'The accident', look: 'accident', here: true },
            ]}
            line={way?.filter((place) => place !== null)}
            facts={[
              ['Place', <FullPlace place={accident.location} />],
              [
                'Vehicle',
                vehicle && (
                  <>
                    <a href={vehiclePath(vehicle)}>{vehicle.name}</a>{' '}
                    <span class="sub">{vehicle.groups.join(', ')}</span>
                  </>
                ),
              ],
              ['Plate', accident.licensePlate ?? vehicle?.licensePlate],
              ['VIN', accident.vin && <code>{accident.vin}</code>],
              ['Driver', <DriverLink {...(accident.driverId || !trip ? accident : trip)} />],
              ['Speed', accident.maxSpeedKph && <Speed {...accident} speedLimitKph={null} />],
              ['Severity', accident.severity && capital(accident.severity)],
              ['Acceleration', accident.accelerationG && `${accident.accelerationG} g`],
              ['Detected', accident.detectedAt && <Time at={accident.detectedAt} seconds />],
              ['Received', <Time at={accident.createdAt} seconds />],
              ['Trip', trip && <TripLink trip={trip} />],
              [
                'Source',
                <SourceLink id={accident.connectionId} connection={connection} tSP={accident.tSP} />,
              ],
              ['Event ID', <code class="text-xs">{accident.eventId}</code>],
            ]}
          />
        </div>
      </div>
    </>,
  );
}

/** Who acknowledged and closed an accident, and the form for it. Not live: it would be replaced while somebody types. */
const HandlingPanel = ({ accident }: { accident: Accident }) => {
  const { acknowledged, closed } = accident;
  return (
    <Panel id="handled" title="Handling" body="grid gap-3">
      {!acknowledged && !closed && <p class="sub">Nobody has acknowledged it yet.</p>}
      <Facts
        facts={[
          ['Acknowledged', acknowledged && <By handled={acknowledged} />],
          ['Closed', closed && <By handled={closed} />],
        ]}
      />
      <Form to={accidentPath(accident)} look="grid gap-3">
        {!closed && <Field name="note" label="Note (optional)" />}
        <div class="actions">
          {closed && <Submit name="Reopen" does="reopen" weight="plain" />}
          {!closed && !acknowledged && <Submit name="Acknowledge" does="acknowledge" weight="plain" />}
          {!closed && <Submit name="Close" does="close" weight="plain" />}
        </div>
      </Form>
    </Panel>
  );
};

const By = ({ handled: { at, by, note } }: { handled: NonNullable<Accident['closed']> }) => (
  <>
    by {by}, <Time at={at} />
    {note && <p class="break-words">{note}</p>}
  </>
);

/** Where an accident's report is, or why there is none. */
const Report = ({ accident }: { accident: Accident }) => {
  const { reportUrl, reportReady, dismissed, tSP } = accident;
  const missing = dismissed
    ? 'False alarms have no report.'
    : `${tSP} has not sent a report yet. It arrives with level 3.`;
  return (
    <Panel
      id="report"
      title="Report"
      body
      live
      side={reportReady ? <State mood="ok">Ready</State> : <State mood="quiet">Not yet</State>}
    >
      {reportUrl ? (
        <>
          <a href={reportPath(accident)} rel="noreferrer">
            Accident report
          </a>{' '}
          <span class="sub">Opens at {new URL(reportUrl).host}</span>
        </>
      ) : (
        <p class="sub">{reportReady ? `${tSP} has the report, but provides no link.` : missing}</p>
      )}
    </Panel>
  );
};
