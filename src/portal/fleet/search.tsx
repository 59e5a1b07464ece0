import { validate as isUuid } from 'uuid';
import { findAny } from '../../fleet/find.ts';
import { findByName } from '../../fleet/names.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { webhookOfDelivery } from '../../webhooks/deliveries/queries.ts';
import { typedIn } from '../ui/browse.tsx';
import { Find } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Panel } from '../ui/parts.tsx';
import { driverPath, vehiclePath } from '../ui/records.tsx';
import { DriverTable, VehicleTable } from './lists.tsx';

/** How many vehicles and drivers a search lists at most. */
export const maxFound = 20;

/** Finds things by id or name. The only match is shown at once. */
export async function search(c: Context) {
  const q = typedIn(c, 'q');
  if (isUuid(q)) {
    const found = await pathOfId(c, q.toLowerCase());
    if (found) return seeOther(c, found);
  }
  const { vehicles, drivers } =
    q && !isUuid(q) ? await findByName(c.env, c.get('caller'), q, maxFound) : { vehicles: [], drivers: [] };
  const [only, another] = [...vehicles.map(vehiclePath), ...drivers.map(driverPath)];
  if (only && !another) return seeOther(c, only);
  return page(
    c,
    { title: 'Search', lead: q ? `Results for “${q}”.` : undefined },
    <>
      <Find path="/portal/search" q={q} hint={hint} button="Search" look="find" />
      {vehicles.length > 0 && (
        <Panel id="vehicles" title="Vehicles" side={<Cut items={vehicles} path="/portal/vehicles" q={q} />}>
          <VehicleTable items={vehicles.slice(0, maxFound)} />
        </Panel>
      )}
      {drivers.length > 0 && (
        <Panel id="drivers" title="Drivers" side={<Cut items={drivers} path="/portal/drivers" q={q} />}>
          <DriverTable items={drivers.slice(0, maxFound)} />
        </Panel>
      )}
      {q && !only && (
        <section class="panel" aria-label="Result">
          <Empty icon="search" title={`Nothing matches “${q}”`}>
            Search by the start of a name or plate, or by a whole VIN, event ID or Delivery-Id.
          </Empty>
        </section>
      )}
    </>,
  );
}

const hint = 'Vehicle, plate, VIN, driver, event ID or Delivery-Id';

/** The page of a record or delivery with this id. */
async function pathOfId(c: Context, id: string): Promise<string | undefined> {
  const caller = c.get('caller');
  const [[kind], webhook] = await Promise.all([
    findAny(c.env, caller, id),
    webhookOfDelivery(c.env, caller, id),
  ]);
  if (kind) return `/portal/${kind}s/${id}`;
  return webhook && `/portal/webhooks/${webhook}/deliveries/${id}`;
}

/** Says that there are more, and where. */
const Cut = ({ items, path, q }: { items: unknown[]; path: string; q: string }) =>
  items.length > maxFound ? (
    <p>
      The first {maxFound}. <a href={`${path}?${new URLSearchParams({ q })}`}>Show more</a>
    </p>
  ) : null;
