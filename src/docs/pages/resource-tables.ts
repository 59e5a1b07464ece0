import * as v from 'valibot';
import { alternatives } from '../../core/fleet/lists/field-types.ts';
import { allConnections, type List } from '../../core/fleet/lists/list.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { retries } from '../../core/webhooks/deliveries/policy.ts';
import published from '../openapi/published/openapi.json' with { type: 'json' };
import { perEvent, perTrip, perVehicleAndDay } from '../per-event.ts';
import { code, fence, table } from './blocks.ts';
import { recordTables } from './record-tables.ts';
import { nameIn, type Schema } from './reference.ts';

/** Replaces a guide's placeholders, such as `<!-- kinds -->`, by what the code declares. */
export const withTables = (markdown: string): string =>
  markdown
    .replace('<!-- kinds -->', () => alternatives(lists.map(({ kind }) => code(kind))))
    .replace('<!-- lists -->', () =>
      table(
        ['Path', 'Connection-Id', 'In order of', 'Filters'],
        lists.map(({ list }) => listRow(list)),
      ),
    )
    .replace('<!-- records -->', recordTables)
    .replace('<!-- retries -->', retryTable)
    .replace('<!-- costs -->', costTable)
    .replace('<!-- vehicles -->', vehiclesTable)
    .replace(/<!-- per-event (\w+) -->/g, (_, name) =>
      String(
        Object.entries({ ...perEvent, ...perVehicleAndDay }).find(([key]) => key === name)?.[1],
      ),
    )
    .replace(/<!-- payload (\w+) -->/g, (_, name) => payload(name));

const components: { [name: string]: Schema & { examples?: unknown[] } } =
  published.components.schemas;

/** A component of the OpenAPI document: an example, and its JSON Schema with references inlined. */
function payload(name: string): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    ...components[name],
  };
  const inPlace = (key: string, value: unknown) => {
    if (key === 'examples') return undefined;
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
    const { $ref, ...rest } = value;
    return { ...components[nameIn({ $ref: String($ref) })], ...rest };
  };
  return [
    fence('json', JSON.stringify(components[name]?.examples?.[0], null, 2)),
    'Its JSON Schema:',
    fence('json', JSON.stringify(schema, inPlace, 2)),
  ].join('\n\n');
}

const retryTable = (): string => {
  const { waits, maxAttempts, hours, accidentWaits, maxAccidentAttempts } = retries;
  const numbers = waits.map((_, i) => String(i + 1));
  return `${table(['Attempt', ...numbers], [['wait after a failed attempt', ...waits]])}

Accidents are retried sooner at first: after ${accidentWaits}, and then as above from ${waits[2]} on.

Each wait varies by up to a fifth. After ${maxAttempts} attempts (${maxAccidentAttempts} for an accident), some ${hours} hours after the first, the delivery has failed.`;
};

function listRow({ path, connectionRequired, order, range, filters }: List): string[] {
  const ranges = { optional: ['`from`, `to`'], required: ['`from` and `to` (both required)'] };
  const rest = Object.entries(filters).map(([name, { query }]) => {
    const { enum: values } = v.getMetadata(query);
    return Array.isArray(values) ? `${code(name)} (${values.join(', ')})` : code(name);
  });
  const all = [...(range ? ranges[range] : []), ...rest];
  return [
    code(path),
    connectionRequired ? `required, or ${code(allConnections)}` : 'optional',
    code(order),
    all.join(', '),
  ];
}

const planPrice = 5;

/** How much vehicles need of something a day. */
const ofVehicles = (vehicles: number, ofEvent: number, ofTrip = 0): number =>
  vehicles * (perVehicleAndDay.events * ofEvent + perVehicleAndDay.trips * ofTrip);

/** Cloudflare's prices per million beyond the millions that the plan includes in a month. */
const prices = [
  { of: 'requests', count: perEvent.requests, price: 0.3, included: 10 },
  { of: 'CPU ms', count: perEvent.cpuMs, trip: perTrip.cpuMs, price: 0.02, included: 30 },
  {
    of: 'D1 rows written',
    count: perEvent.rowsWrittenInLife,
    trip: perTrip.rowsWrittenInLife,
    price: 1,
    included: 50,
  },
  {
    of: 'D1 rows read',
    count: perEvent.rowsRead,
    trip: perTrip.rowsRead,
    price: 0.001,
    included: 25_000,
  },
  // A message is written, read and deleted.
  { of: 'queue operations', count: 3 * perEvent.messages, price: 0.4, included: 1 },
  { of: 'Analytics Engine points', count: perEvent.points, price: 0.25, included: 10 },
];

const usualDays = 30;

/** GB of log in a month, of which seven days are stored at a time. */
const logged = (vehicles: number): number => (ofVehicles(vehicles, perEvent.logBytes) * 30) / 1e9;
const daysLogged = 7;
const logPrice = 0.25;
const logStoragePrice = 0.1;

/** What D1 stores of so many vehicles, with deliveries of 30 days. */
const gigabytes = (vehicles: number, hotDays = usualDays): number =>
  (hotDays * ofVehicles(vehicles, perEvent.bytesStored, perTrip.bytesStored) +
    usualDays * ofVehicles(vehicles, perEvent.bytesDelivered)) /
  1e9;

const beyond = (amount: number, included: number, price: number): number =>
  Math.max(0, amount - included) * price;

/** What a month of 30 days costs with so many vehicles, by what is paid for. */
const costsOf = (vehicles: number): [what: string, dollars: number][] => [
  ...prices.map(({ of, count, trip, price, included }): [string, number] => [
    `${of}, $${price}/M beyond ${included.toLocaleString('en-US')} M`,
    beyond((ofVehicles(vehicles, count, trip) * 30) / 1e6, included, price),
  ]),
  [`log, $${logPrice}/GB beyond 50 GB`, beyond(logged(vehicles), 50, logPrice)],
  [
    `log storage, $${logStoragePrice.toFixed(2)}/GB beyond 12 GB`,
    beyond((logged(vehicles) * daysLogged) / 30, 12, logStoragePrice),
  ],
  ['D1 storage, $0.75/GB beyond 5 GB', beyond(gigabytes(vehicles), 5, 0.75)],
];

const fleets = [100, 1_000, 10_000, 50_000];

const number = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: 0 });
const dollars = (amount: number): string => (amount < 0.5 ? '–' : `$${number(amount)}`);

/** What a month costs with fleets of some sizes, and what each further million events costs. */
function costTable(): string {
  const columns = fleets.map(costsOf);
  const totals = columns.map((costs) => costs.reduce((sum, [, cost]) => sum + cost, planPrice));
  const logOfMillion = (perEvent.logBytes / 1e3) * (logPrice + (logStoragePrice * daysLogged) / 30);
  const perMillion = prices.reduce((sum, { count, price }) => sum + count * price, logOfMillion);
  const rows = [
    ['**a month, with the plan**', ...totals.map((total) => `**${dollars(total)}**`)],
    ...costsOf(0).map(([what], at) => [
      what,
      ...columns.map((costs) => dollars(costs[at]?.[1] ?? 0)),
    ]),
    ['GB in D1', ...fleets.map((vehicles) => gigabytes(vehicles).toFixed(1))],
  ];
  return `${table(['Vehicles', ...fleets.map(number)], rows)}

Each further million events costs some ${dollars(perMillion)}.`;
}

/** How many vehicles fit into a database, in hundreds, by its size and the days that it holds. */
function vehiclesTable(): string {
  const days = [7, 30, 180];
  const fitting = (size: number, hotDays: number) =>
    number(Math.floor(size / gigabytes(100, hotDays)) * 100);
  const rows = [1, 5, 10].map((size) => [
    `${size} GB`,
    ...days.map((hotDays) => fitting(size, hotDays)),
  ]);
  return table(['`--hot-days`', ...days.map(String)], rows);
}
