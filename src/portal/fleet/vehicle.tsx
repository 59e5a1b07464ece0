import { Hono } from 'hono';
import { findItem, findReferences } from '../../fleet/find.ts';
import { vehicles } from '../../fleet/lists/vehicles.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { needs } from '../session/rights.ts';
import { page } from '../ui/layout.tsx';
import { FullPlace, type MapPoint, PlaceMap } from '../ui/map.tsx';
import { Facts, Panel } from '../ui/parts.tsx';
import { found, idIn, pointsOf, SourceLink } from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { HistoryPanels, readHistory } from './history.tsx';
import { modelOf } from './lists.tsx';

/** One vehicle: what it is, where it was last seen, and what it did in the last 30 days. */
export const vehiclePage = new Hono<App>().get('/vehicles/:id', needs('viewer'), detail);

async function detail(c: Context) {
  const id = idIn(c);
  const [stored, history] = await Promise.all([
    findItem(c.env, c.get('caller'), vehicles.list, id),
    readHistory(c, 'vehicle', id),
  ]);
  const vehicle = found(stored);
  const { connection } = await findReferences(c.env, c.get('caller'), vehicle);
  const seen = vehicle.lastLocation;
  return page(
    c,
    {
      title: vehicle.name,
      state: vehicle.status === 'inactive' && <State mood="quiet">Inactive</State>,
      lead: [modelOf(vehicle), vehicle.groups.join(', ')].filter(Boolean).join(' · ') || undefined,
      above: [{ href: '/portal/vehicles', name: 'Vehicles' }],
    },
    <div class="cols cols-3-2">
      <div class="stack">
        <HistoryPanels of="vehicle" id={id} history={history} />
      </div>
      <div class="stack">
        <Panel id="facts" title="Place and facts" hidden>
          <PlaceMap
            label={`Where ${vehicle.name} was last seen, and its latest safety events`}
            points={[...pointsOf(history.events), ...lastSeen(vehicle)]}
          />
          <div class="panel-body pt-4">
            <Facts
              facts={[
                ['Last seen', seen && <Ago at={seen.timestamp} />],
                ['Place', seen && <FullPlace place={seen} />],
                ['VIN', vehicle.vin && <code>{vehicle.vin}</code>],
                ['Plate', vehicle.licensePlate],
                ['Fuel', vehicle.fuelType],
                [
                  'Odometer',
                  vehicle.odometerKm === null
                    ? null
                    : `${Math.round(vehicle.odometerKm).toLocaleString('en')} km`,
                ],
                ['Groups', vehicle.groups.length > 0 ? vehicle.groups.join(', ') : null],
                ['Source', <SourceLink id={vehicle.connectionId} connection={connection} />],
                ['Source ID', <code>{vehicle.sourceId}</code>],
                ['Vehicle ID', <code class="text-xs">{vehicle.id}</code>],
              ]}
            />
          </div>
        </Panel>
      </div>
    </div>,
  );
}

type Vehicle = ReturnType<typeof vehicles.list.present>;

const lastSeen = ({ name, lastLocation }: Vehicle): MapPoint[] =>
  lastLocation ? [{ at: lastLocation, name: `${name}, last seen here`, look: 'vehicle', here: true }] : [];
