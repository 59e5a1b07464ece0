import type { Child } from 'hono/jsx';
import { setVehicleExternalId } from '../../fleet/external-ids.ts';
import { findItem, findReferences } from '../../fleet/find.ts';
import { drivers } from '../../fleet/lists/drivers.ts';
import type { List } from '../../fleet/lists/list.ts';
import { vehicles } from '../../fleet/lists/vehicles.ts';
import type { Context } from '../../platform/http/context.ts';
import { ExternalIdPanel, saveExternalId } from '../ui/external-id.tsx';
import { capital } from '../ui/format.ts';
import { page } from '../ui/layout.tsx';
import { FullPlace, type MapPoint } from '../ui/map.tsx';
import {
  type FactList,
  found,
  idIn,
  MapAndFacts,
  pointsOf,
  SourceLink,
  vehiclePath,
} from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { Distance } from '../ui/units.tsx';
import { HistoryPanels, readHistory } from './history.tsx';
import { licenseOf, modelOf } from './lists.tsx';

/** A vehicle's properties and its last 30 days. */
export const ofVehicle = (c: Context) => profile(c, 'vehicle', vehicles.list, aboutVehicle);

/** The same for a driver. */
export const ofDriver = (c: Context) => profile(c, 'driver', drivers.list, aboutDriver);

/** Gives a vehicle the account's own identifier, or takes that away. */
export const setExternalId = (c: Context) =>
  saveExternalId(
    c,
    async (externalId) => {
      const vehicle = found(await setVehicleExternalId(c.env, c.get('caller'), idIn(c), externalId));
      return { path: vehiclePath(vehicle), name: vehicle.name };
    },
    ofVehicle,
  );

/** What the page says of a vehicle or driver besides what it says of both. */
type About = {
  inactive: boolean;
  lead?: string;
  map: string;
  points: MapPoint[];
  facts: FactList;
  form?: Child;
};

async function profile<T extends { name: string; connectionId: string; sourceId: string }>(
  c: Context,
  of: 'vehicle' | 'driver',
  list: List<T>,
  describe: (item: T) => About,
) {
  const id = idIn(c);
  const [stored, history] = await Promise.all([
    findItem(c.env, c.get('caller'), list, id),
    readHistory(c, of, id),
  ]);
  const item = found(stored);
  const { connection } = await findReferences(c.env, c.get('caller'), { connectionId: item.connectionId });
  const { inactive, lead, map, points, facts, form } = describe(item);
  return page(
    c,
    {
      title: item.name,
      state: inactive && <State mood="quiet">Inactive</State>,
      lead,
      above: [{ href: `/portal/${of}s`, name: `${capital(of)}s` }],
    },
    <div class="cols cols-3-2">
      <div class="stack">
        <HistoryPanels of={of} id={id} history={history} />
        {form}
      </div>
      <MapAndFacts
        label={map}
        points={[...pointsOf(history.events), ...points]}
        facts={[
          ...facts,
          ['Source', <SourceLink id={item.connectionId} connection={connection} />],
          ['Source ID', <code>{item.sourceId}</code>],
          [`${capital(of)} ID`, <code class="text-xs">{id}</code>],
        ]}
      />
    </div>,
  );
}

const aboutVehicle = (vehicle: ReturnType<typeof vehicles.list.present>): About => {
  const { name, vin, licensePlate, externalId, fuelType, odometerKm, lastLocation: seen } = vehicle;
  const groups = vehicle.groups.join(', ');
  return {
    inactive: vehicle.status === 'inactive',
    lead: [modelOf(vehicle), groups].filter(Boolean).join(' · '),
    map: `Where ${name} was last seen, and its latest safety events`,
    points: seen ? [{ at: seen, name: `${name}, last seen here`, look: 'vehicle', here: true }] : [],
    facts: [
      ['Last seen', seen && <Ago at={seen.timestamp} />],
      ['Place', seen && <FullPlace place={seen} />],
      ['VIN', vin && <code>{vin}</code>],
      ['Plate', licensePlate],
      ['External ID', externalId],
      ['Fuel', fuelType],
      ['Odometer', odometerKm === null ? null : <Distance km={odometerKm} whole />],
      ['Groups', groups || null],
    ],
    form: (
      <ExternalIdPanel
        to={`${vehiclePath(vehicle)}/external-id`}
        value={externalId}
        hint="Such as a fleet number: externalId in the API. No other vehicle can have the same one."
      />
    ),
  };
};

const aboutDriver = (driver: ReturnType<typeof drivers.list.present>): About => ({
  inactive: driver.status === 0,
  map: `The latest safety events of ${driver.name}`,
  points: [],
  facts: [
    ['Email', driver.email && <a href={`mailto:${driver.email}`}>{driver.email}</a>],
    ['Phone', driver.phone],
    ['License', licenseOf(driver) || null],
  ],
});
