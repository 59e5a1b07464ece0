import { validate as isUuid } from 'uuid';
import { findAny } from '../../fleet/find.ts';
import { findByName, type NamedItem } from '../../fleet/names.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { webhookOfDelivery } from '../../webhooks/deliveries/queries.ts';
import { typedIn } from '../ui/browse.tsx';
import { capital } from '../ui/format.ts';
import { Find } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Panel } from '../ui/parts.tsx';
import { driverPath, vehiclePath } from '../ui/records.tsx';
import { NamedTable } from './lists.tsx';

/** How many vehicles and drivers a search lists at most. */
export const maxFound = 20;

/** Finds things by id or name. The only match is shown at once. */
export async function search(c: Context) {
  const q = typedIn(c, 'q');
  if (isUuid(q)) {
    const found = await pathOfId(c, q.toLowerCase());
    if (found) return seeOther(c, found);
  }
  const found =
    q && !isUuid(q) ? await findByName(c.env, c.get('caller'), q, maxFound) : { vehicle: [], driver: [] };
  const [only, another] = [...found.vehicle.map(vehiclePath), ...found.driver.map(driverPath)];
  if (only && !another) return seeOther(c, only);
  return page(
    c,
    { title: 'Search', lead: q ? `Results for “${q}”.` : undefined },
    <>
      <Find path="/portal/search" q={q} hint={hint} button="Search" look="find" />
      <Results kind="vehicle" items={found.vehicle} q={q} />
      <Results kind="driver" items={found.driver} q={q} />
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

function Results<K extends 'vehicle' | 'driver'>(props: { kind: K; items: NamedItem<K>[]; q: string }) {
  const { kind, items, q } = props;
  const many = `${kind}s`;
  if (items.length === 0) return null;
  return (
    <Panel
      id={many}
      title={capital(many)}
      side={
        items.length > maxFound && <a href={`/portal/${many}?${new URLSearchParams({ q })}`}>Show more</a>
      }
    >
      <NamedTable kind={kind} items={items.slice(0, maxFound)} />
    </Panel>
  );
}
