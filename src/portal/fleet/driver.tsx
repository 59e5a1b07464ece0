import { Hono } from 'hono';
import { findItem, findReferences } from '../../fleet/find.ts';
import { drivers } from '../../fleet/lists/drivers.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { needs } from '../session/rights.ts';
import { page } from '../ui/layout.tsx';
import { PlaceMap } from '../ui/map.tsx';
import { Facts, Panel } from '../ui/parts.tsx';
import { found, idIn, pointsOf, SourceLink } from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { HistoryPanels, readHistory } from './history.tsx';
import { licenseOf } from './lists.tsx';

/** One driver: how to reach them, and what they did in the last 30 days. */
export const driverPage = new Hono<App>().get('/drivers/:id', needs('viewer'), detail);

async function detail(c: Context) {
  const id = idIn(c);
  const [stored, history] = await Promise.all([
    findItem(c.env, c.get('caller'), drivers.list, id),
    readHistory(c, 'driver', id),
  ]);
  const driver = found(stored);
  const { connection } = await findReferences(c.env, c.get('caller'), driver);
  return page(
    c,
    {
      title: driver.name,
      state: driver.status === 0 && <State mood="quiet">Inactive</State>,
      above: [{ href: '/portal/drivers', name: 'Drivers' }],
    },
    <div class="cols cols-3-2">
      <div class="stack">
        <HistoryPanels of="driver" id={id} history={history} />
      </div>
      <div class="stack">
        <Panel id="facts" title="Places and facts" hidden>
          <PlaceMap label={`The latest safety events of ${driver.name}`} points={pointsOf(history.events)} />
          <div class="panel-body pt-4">
            <Facts
              facts={[
                ['Email', driver.email && <a href={`mailto:${driver.email}`}>{driver.email}</a>],
                ['Phone', driver.phone],
                ['License', licenseOf(driver) || null],
                ['Source', <SourceLink id={driver.connectionId} connection={connection} />],
                ['Source ID', <code>{driver.sourceId}</code>],
                ['Driver ID', <code class="text-xs">{driver.id}</code>],
              ]}
            />
          </div>
        </Panel>
      </div>
    </div>,
  );
}
