import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { findItem, findReferences } from '../../fleet/find.ts';
import { drivers } from '../../fleet/lists/drivers.ts';
import { Refusal } from '../../platform/errors.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { needs } from '../session/rights.ts';
import { page } from '../ui/layout.tsx';
import { PlaceMap } from '../ui/map.tsx';
import { Facts, Panel } from '../ui/parts.tsx';
import { State } from '../ui/states.tsx';
import { licenseOf } from './fleet-tables.tsx';
import { HistoryPanels, readHistory } from './history.tsx';
import { eventPoints } from './vehicle.tsx';

/** One driver: how to reach them, and what they did in the last 30 days. */
export const driverPage = new Hono<App>().get('/drivers/:id', needs('viewer'), detail);

async function detail(c: Context) {
  const id = c.req.param('id')?.toLowerCase() ?? '';
  if (!isUuid(id)) throw new Refusal({ kind: 'not found' });
  const [driver, history] = await Promise.all([
    findItem(c.env, c.get('caller'), drivers.list, id),
    readHistory(c, 'driver', id),
  ]);
  if (!driver) throw new Refusal({ kind: 'not found' });
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
          <PlaceMap label={`The latest safety events of ${driver.name}`} points={eventPoints(history)} />
          <div class="panel-body pt-4">
            <Facts
              facts={[
                ['Email', driver.email && <a href={`mailto:${driver.email}`}>{driver.email}</a>],
                ['Phone', driver.phone],
                ['License', licenseOf(driver) || null],
                [
                  'Source',
                  <a href={`/portal/connections/${driver.connectionId}`}>
                    {connection?.name ?? connection?.tSP ?? 'Their connection'}
                  </a>,
                ],
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
