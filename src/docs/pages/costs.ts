import { perEvent } from '../per-event.ts';
import { table } from './blocks.ts';

const million = 1e6;

/** Cloudflare's prices per million beyond what the plan includes in a month. */
const prices = [
  { of: 'requests', count: perEvent.requests, price: 0.3, included: 10 * million },
  { of: 'CPU ms', count: perEvent.cpuMs, price: 0.02, included: 30 * million },
  { of: 'D1 rows written', count: perEvent.rowsWrittenInLife, price: 1, included: 50 * million },
  { of: 'D1 rows read', count: perEvent.rowsRead, price: 0.001, included: 25_000 * million },
  { of: 'log lines', count: perEvent.logLines, price: 0.6, included: 20 * million },
  { of: 'Analytics Engine points', count: perEvent.points, price: 0.25, included: 10 * million },
];
const planPrice = 5;

/** D1's storage: the gigabytes in the plan, and the price of a further one for a month. */
const storage = { includedGb: 5, price: 0.75 };

/** How many days events and deliveries stay in D1 by default. */
const daysKept = { events: 180, deliveries: 30 };

const gigabytes = (daily: number): number =>
  (daily * (daysKept.events * perEvent.bytesStored + daysKept.deliveries * perEvent.bytesDelivered)) / 1e9;

/** The events a day of the table's columns. */
const volumes = [10_000, 100_000, 1_000_000, 10_000_000];

const dollars = (amount: number): string =>
  amount < 0.5 ? '–' : `$${Math.round(amount).toLocaleString('en-US')}`;

/** What a month of 30 days costs at these volumes, with the plan, and what each further million events costs. */
export function costTable(): string {
  const rows = [
    ...prices.map(({ of, count, price, included }) => ({
      name: `${of}, $${price}/M beyond ${(included / million).toLocaleString('en-US')} M`,
      amounts: volumes.map((daily) => (Math.max(0, daily * 30 * count - included) / million) * price),
    })),
    {
      name: `D1 storage, $${storage.price}/GB beyond ${storage.includedGb} GB`,
      amounts: volumes.map((daily) => Math.max(0, gigabytes(daily) - storage.includedGb) * storage.price),
    },
  ];
  const totals = volumes.map((_, at) =>
    rows.reduce((sum, { amounts }) => sum + (amounts[at] ?? 0), planPrice),
  );
  const perMillion = prices.reduce((sum, { count, price }) => sum + count * price, 0);
  return `${table(
    ['Events a day', ...volumes.map((daily) => daily.toLocaleString('en-US'))],
    [
      ['**a month, with the plan**', ...totals.map((total) => `**${dollars(total)}**`)],
      ...rows.map(({ name, amounts }) => [name, ...amounts.map(dollars)]),
      [
        'GB in D1',
        ...volumes.map((daily) => gigabytes(daily).toLocaleString('en-US', { maximumFractionDigits: 0 })),
      ],
    ],
  )}

Each further million events costs some ${dollars(perMillion)}.`;
}
