import { config } from '../../../core/platform/config.ts';
import { by, type Context } from '../../../core/platform/http/context.ts';
import { counted } from '../../../texts/words.ts';
import { page, timeZoneOf } from '../../../ui/layout.tsx';
import { column } from '../../../ui/lists/columns.tsx';
import { addressOf, typedIn } from '../../../ui/lists/filters.tsx';
import { Distance, driverPath } from '../../../ui/lists/records.tsx';
import { Segment, State } from '../../../ui/parts.tsx';
import { type Column, TablePanel } from '../../../ui/table.tsx';
import { pageByName } from '../../search/pages.tsx';
import { listByIds, type NamedItem } from '../../search/search.ts';
import { byRate, type DriverFigures, driverFigures, maxRanked, rateOf } from '../drivers.ts';
import type { Span } from '../read.ts';
import { currentSpan, spanName } from './spans.ts';

/** Drivers by name, with their events; or those with the most, or the most per 1,000 km. */
export function listDrivers(c: Context) {
  const { order = '', days = '' } = typedIn(c, ['order', 'days']);
  const { hotDays } = config(c.env); // trips before are archived
  const periods = rankedDays.filter((count) => hotDays === 0 || count <= hotDays);
  const span = currentSpan(
    timeZoneOf(c),
    periods.find((count) => String(count) === days) ?? Math.max(...periods),
  );
  return orders.some(([wanted]) => wanted === order) && order !== ''
    ? rankingPage(c, order, span, periods)
    : pageByName(
        c,
        'driver',
        columns,
        async (items) => {
          const ids = items.map(({ id }) => id);
          return withFigures(items, await driverFigures(...by(c), span, ids));
        },
        <DriverViews order="" days={span.days} periods={periods} />,
      );
}

const rankedDays = [1, 7, 30];

const orders = [
  ['', 'By name'],
  ['events', 'Most events'],
  ['rate', 'Per 1,000 km'],
] as const;

/** The views of the list of drivers: in which order, and whose events. */
const DriverViews = (props: { order: string; days: number; periods: number[] }) => {
  const { order, days, periods } = props;
  const to = (changes: object) =>
    addressOf('/portal/drivers', { order, days: String(days), ...changes });
  return (
    <div class="panel-head flex-wrap">
      <Segment label="Order" choices={orders} current={order} to={(order) => to({ order })} />
      <Segment
        label="Period"
        choices={periods.map((count) => [count, spanName(count)] as const)}
        current={days}
        to={(count) => to({ days: String(count) })}
      />
    </div>
  );
};

async function rankingPage(c: Context, order: string, span: Span, periods: number[]) {
  const figures = await driverFigures(...by(c), span);
  const drivers = await listByIds(...by(c), 'driver', [...figures.keys()]);
  const items = withFigures(drivers, figures).sort((a, b) =>
    order === 'rate' ? byRate(a, b) : b.events - a.events,
  );
  return page(
    c,
    {
      title: 'Drivers',
      lead: `${order === 'rate' ? 'By events of risk 4 and 5 per 1,000 km' : 'By events of risk 4 and 5'}, ${spanName(span.days).toLowerCase()}.`,
    },
    <TablePanel
      title="Drivers"
      hidden
      above={<DriverViews order={order} days={span.days} periods={periods} />}
      stacked
      columns={columns}
      items={items}
      pages={{
        count: items.length < maxRanked ? counted(items.length, 'driver', 'drivers') : ofMost,
      }}
      empty={{
        icon: 'shield-check',
        title: 'No driver had an event of risk 4 or 5',
        text: 'Events without a driver are not counted here.',
      }}
    />,
  );
}

const ofMost = `The ${maxRanked} drivers with the most events`;

type Driver = NamedItem<'driver'>;

const withFigures = (drivers: Driver[], figures: Map<string, DriverFigures>) =>
  drivers.map((driver) => ({ ...driver, ...(figures.get(driver.id) ?? noFigures) }));

const noFigures: DriverFigures = { events: 0, km: null, vehicle: null };

/** With the provider's id and the vehicle, since two drivers can have the same name. */
const columns: Column<Driver & DriverFigures>[] = [
  {
    head: 'Driver',
    href: driverPath,
    cell: ({ name }) => name,
    more: ({ sourceId, status }) => [
      <div class="sub clamp">{sourceId}</div>,
      status === 0 && <State mood="quiet">Inactive</State>,
    ],
  },
  { head: 'Vehicle', cell: ({ vehicle }) => vehicle },
  { head: 'Risk 4 and 5', look: 'num', cell: ({ events }) => events.toLocaleString('en') },
  {
    head: 'Per 1,000 km',
    look: 'num',
    cell: (one) =>
      rateOf(one)?.toLocaleString('en', { maximumFractionDigits: 1 }) ?? (
        <span class="sub">No distance</span>
      ),
    more: ({ km }) =>
      km !== null &&
      km > 0 && (
        <div class="sub">
          <Distance km={km} whole />
        </div>
      ),
  },
  {
    head: 'Contact',
    cell: ({ email, phone }) => email ?? phone,
    more: ({ email, phone }) => email && phone && <div class="sub">{phone}</div>,
  },
  column.connection,
];
