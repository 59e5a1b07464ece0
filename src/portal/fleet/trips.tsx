import { Hono } from 'hono';
import { validate as isUuid } from 'uuid';
import { namesOf, readNamed, tripsWithDrivers } from '../../fleet/named.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { needs } from '../session/rights.ts';
import { LinkButton } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Pager } from '../ui/parts.tsx';
import { driverPath, vehiclePath } from './fleet-tables.tsx';
import { TripTable } from './trip-table.tsx';

/** The trips of the account, or of one of its vehicles or drivers, newest first. */
export const tripListPages = new Hono<App>().get('/trips', needs('viewer'), list);

const path = '/portal/trips';

async function list(c: Context) {
  const caller = c.get('caller');
  const { vehicle, driver, cursor } = c.req.query();
  const asked = {
    ...(vehicle && isUuid(vehicle) && { vehicle }),
    ...(driver && isUuid(driver) && { driver }),
  };
  const { items, next } = await readNamed(c.env, caller, tripsWithDrivers, {
    connectionId: undefined,
    descending: true,
    query: {
      limit: ['50'],
      ...(asked.vehicle && { vehicleIds: [asked.vehicle.toLowerCase()] }),
      ...(asked.driver && { driverIds: [asked.driver.toLowerCase()] }),
      ...(cursor && { cursor: [cursor] }),
    },
  });
  const names = await namesOf(c.env, caller, 'vehicles', [
    ...new Set(items.map(({ vehicleId }) => vehicleId)),
  ]);
  const trips = items.map((trip) => ({ ...trip, vehicleName: names.get(trip.vehicleId) ?? null }));
  const [first] = trips;
  const address = `${path}?${new URLSearchParams(asked)}`;
  return page(
    c,
    { title: 'Trips', lead: 'Newest first.' },
    <section class="panel" aria-label="Trips">
      {(asked.vehicle || asked.driver) && (
        <ul class="actions chips py-3" aria-label="Filters that are set">
          {asked.vehicle && (
            <Chip text={first?.vehicleName ?? 'One vehicle'} about={vehiclePath(asked.vehicle)} />
          )}
          {asked.driver && <Chip text={first?.driverName ?? 'One driver'} about={driverPath(asked.driver)} />}
        </ul>
      )}
      {trips.length > 0 && <TripTable trips={trips} />}
      {trips.length === 0 && (
        <Empty
          icon="route"
          title={next ? 'No trips on this page' : 'No trips'}
          action={(asked.vehicle || asked.driver) && <LinkButton href={path} name="All trips" />}
        >
          {!next && 'They appear here once a connection has sent them.'}
        </Empty>
      )}
      {(trips.length > 0 || cursor || next) && (
        <Pager
          count={`${trips.length} ${trips.length === 1 ? 'trip' : 'trips'}${next ? ', more follow' : ''}`}
          newest={cursor && address}
          older={next && `${address}&cursor=${next}`}
        />
      )}
    </section>,
  );
}

/** What the list is about, with what removes that. */
const Chip = ({ text, about }: { text: string; about: string }) => (
  <>
    <li>
      <a class="chip" href={path}>
        {text}
        <span class="sr-only">, remove</span>
        <Icon name="x" small />
      </a>
    </li>
    <li>
      <a class="sub underline" href={about}>
        Its page
        <span class="sr-only">: {text}</span>
      </a>
    </li>
  </>
);
