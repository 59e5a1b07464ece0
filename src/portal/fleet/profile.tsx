import type { Child } from 'hono/jsx';
import { findItem, findReferences } from '../../core/fleet/find.ts';
import { drivers } from '../../core/fleet/lists/drivers.ts';
import type { List } from '../../core/fleet/lists/list.ts';
import { vehicles } from '../../core/fleet/lists/vehicles.ts';
import { by, type Context, orNotFound } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { added, reading } from '../../ui/added.ts';
import { RiskChart } from '../../ui/chart.tsx';
import { page, timeZoneOf } from '../../ui/layout.tsx';
import {
  accidentColumnsOf,
  column,
  eventColumns,
  modelOf,
  tripColumns,
} from '../../ui/lists/columns.tsx';
import { Distance, fact, factsOf, idIn, MapAndFacts, pointsOf } from '../../ui/lists/records.tsx';
import { FullPlace, type MapPoint } from '../../ui/map.tsx';
import { type FactList, Panel, State } from '../../ui/parts.tsx';
import * as named from '../../ui/read/named-lists.ts';
import { TablePanel } from '../../ui/table.tsx';
import { addDays, dayIn, shortDate, startOfDay } from '../../ui/time.tsx';
import { countByRisk, maxRisksCounted, type RiskCount } from '../read/activity.ts';

/** A vehicle's properties and its last 30 days. */
export const ofVehicle = (c: Context) =>
  profile(c, 'vehicle', vehicles.list, aboutVehicle, (vehicle) =>
    added(c, 'vehicle').map((more) => more(vehicle)),
  );

/** A driver's properties and their last 30 days. */
export const ofDriver = (c: Context) => profile(c, 'driver', drivers.list, aboutDriver);

/** What the page says of a vehicle or driver besides what it says of both. */
type About = {
  inactive: boolean;
  lead?: string;
  map: string;
  points: MapPoint[];
  facts: FactList;
};

async function profile<T extends { name: string; connectionId: string; sourceId: string }>(
  c: Context,
  of: 'vehicle' | 'driver',
  list: List<T>,
  describe: (item: T) => About,
  more: (item: T) => Child = () => null,
) {
  const id = idIn(c);
  const [stored, history] = await Promise.all([
    findItem(...by(c), list, id),
    readHistory(c, of, id),
  ]);
  const item = orNotFound(stored);
  const { connection } = await findReferences(...by(c), { connectionId: item.connectionId });
  const { inactive, lead, map, points, facts } = describe(item);
  const { events, trips, accidents } = history;
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
        <TablePanel
          title="Latest accidents"
          side={<a href={`/portal/accidents?${of}=${id}`}>All accidents</a>}
          columns={accidentColumnsOf(of)}
          items={accidents}
        />
        <PerDay history={history} />
        <TablePanel
          title="Latest safety events"
          side={<a href={`/portal/events?${of}=${id}`}>All events</a>}
          columns={eventColumns(of)}
          items={events}
          empty={{ icon: 'shield-check', title: `No safety events in the last ${days} days` }}
        />
        <TablePanel
          title="Latest trips"
          side={<a href={`/portal/trips?${of}=${id}`}>All trips</a>}
          columns={tripColumns.filter(({ head }) => head.toLowerCase() !== of)}
          items={trips}
          empty={{ icon: 'route', title: `No trips in the last ${days} days` }}
        />
        {more(item)}
      </div>
      <MapAndFacts
        label={map}
        points={[...pointsOf(events), ...points]}
        facts={[
          ...facts,
          ...factsOf({ ...item, connection }, fact.source),
          ['Source ID', <code>{item.sourceId}</code>],
          [`${capital(of)} ID`, <code class="text-xs">{id}</code>],
        ]}
      />
    </div>,
  );
}

const aboutVehicle = (vehicle: ReturnType<typeof vehicles.list.present>): About => {
  const { name, odometerKm, lastLocation: seen } = vehicle;
  const groups = vehicle.groups.join(', ');
  return {
    inactive: vehicle.status === 'inactive',
    lead: [modelOf(vehicle), groups].filter(Boolean).join(' · '),
    map: `Where ${name} was last seen, and its latest safety events`,
    points: seen
      ? [{ at: seen, name: `${name}, last seen here`, look: 'vehicle', here: true }]
      : [],
    facts: [
      ...factsOf(vehicle, column.seen),
      ['Place', seen && <FullPlace place={seen} />],
      ...factsOf(vehicle, column.vin, column.plate, column.externalId, column.fuel),
      ['Odometer', odometerKm !== null && <Distance km={odometerKm} whole />],
      ['Groups', groups],
    ],
  };
};

const aboutDriver = (driver: ReturnType<typeof drivers.list.present>): About => ({
  inactive: driver.status === 0,
  map: `The latest safety events of ${driver.name}`,
  points: [],
  facts: [
    [
      'Email',
      driver.email && <a href={`mailto:${encodeURIComponent(driver.email)}`}>{driver.email}</a>,
    ],
    ...factsOf(driver, column.phone, column.license),
  ],
});

const days = 30;

type History = Awaited<ReturnType<typeof readHistory>>;

/** The last 30 days of a vehicle or driver, today included, in one round trip for each kind. */
async function readHistory(c: Context, of: 'vehicle' | 'driver', id: string) {
  const zone = timeZoneOf(c);
  const today = dayIn(zone, Date.now());
  const since = startOfDay(zone, addDays(today, 1 - days));
  const latest = {
    of,
    ids: [id],
    from: since,
    to: startOfDay(zone, addDays(today, 2)),
    limit: 10,
    descending: true,
  };
  const [counts, events, trips, { items: accidents }] = await Promise.all([
    countByRisk(...by(c), of, id, since),
    named.readWithin(...reading(c), named.eventsWithDrivers, latest),
    named.readWithin(...reading(c), named.tripsWithNames, latest),
    named.readNamed(...reading(c), named.accidentsWithVehicles, {
      connectionId: undefined,
      descending: true,
      query: {
        [`${of}Ids`]: [id],
        from: [named.listTime(since)],
        limit: ['5'],
      },
    }),
  ]);
  return { zone, today, counts, events, trips, accidents };
}

const PerDay = ({ history: { zone, today, counts } }: { history: History }) => {
  const total = sum(counts);
  if (total === 0) return null;
  const perDay = Map.groupBy(counts, ({ at }) => dayIn(zone, at));
  const columns = Array.from({ length: days }, (_, i) => {
    const day = addDays(today, i + 1 - days);
    const those = perDay.get(day) ?? [];
    return {
      name: day === today ? 'Today' : shortDate('UTC', Date.parse(day)),
      values: [1, 2, 3, 4, 5].map((wanted) => sum(those.filter(({ risk }) => risk === wanted))),
    };
  });
  const shown =
    total >= maxRisksCounted
      ? `The newest ${maxRisksCounted.toLocaleString('en')}`
      : total.toLocaleString('en');
  return (
    <Panel title="Safety events per day" side={<p>{`${shown} in the last ${days} days`}</p>} body>
      <RiskChart
        summary={`Safety events per day of the last ${days} days, stacked by risk.`}
        columns={columns}
      />
    </Panel>
  );
};

const sum = (counts: RiskCount[]): number => counts.reduce((total, { count }) => total + count, 0);
