import { describe, expect, it } from 'vitest';
import page from '../../src/docs/guides/limits.md?raw';
import { alertHits } from './limits/alerts.ts';
import { apiHits } from './limits/api.ts';
import { connectionHits } from './limits/connections.ts';
import { deliveryHits } from './limits/deliveries.ts';
import { operatorHits } from './limits/operators.ts';
import { overviewHits } from './limits/overview.ts';
import { portalHits } from './limits/portal.ts';
import { pullHits } from './limits/pulls.ts';
import { recordHits } from './limits/records.ts';
import { create, type Hits, type Numbers } from './limits/setting.ts';
import { tokenHits } from './limits/tokens.ts';
import { webhookHits } from './limits/webhooks.ts';

/** How each row of the page is hit. A new limit is a row there and a line in the file of its section. */
const hits: Hits = {
  ...apiHits,
  ...tokenHits,
  ...recordHits,
  ...pullHits,
  ...webhookHits,
  ...deliveryHits,
  ...alertHits,
  ...overviewHits,
  ...portalHits,
  ...connectionHits,
  ...operatorHits,
};

type Row = { what: string; limit: string };

/** The rows of the page's tables: their first and second cells. */
const tableRows = (markdown: string): Row[] =>
  [...markdown.matchAll(/^\| (.+?) \| (.+?) \|/gm)]
    .map(([, what = '', limit = '']) => ({ what, limit }))
    .filter(({ what }) => what !== 'What');

/** The numbers of a cell: `8 KiB` is 8192. */
function numbersOf(cell: string): Numbers {
  const units: Record<string, number> = { KiB: 1024, MiB: 1024 * 1024 };
  const [first, ...others] = [...cell.matchAll(/(\d[\d,]*)(?: (KiB|MiB))?/g)].map(
    ([, digits = '', unit = '']) => Number(digits.replaceAll(',', '')) * (units[unit] ?? 1),
  );
  if (first === undefined) throw new Error(`no number in "${cell}"`);
  return [first, ...others];
}

const limits = tableRows(page);

it('every row of the page is hit, and everything that is hit is on the page', () => {
  expect(limits.map(({ what }) => what).sort()).toEqual(Object.keys(hits).sort());
});

describe('the limit on', () => {
  it.each(limits)('$what: $limit', { timeout: 600_000 }, ({ what, limit }) =>
    hits[what]?.(...numbersOf(limit)),
  );
});

describe('a webhook of which the page says that it is refused', () => {
  const between = (start: string, end: string) => page.split(start)[1]?.split(end)[0] ?? '';
  const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  const suffixes = codeIn(between('names\nthat end in', 'The same holds'));
  const named = between('cannot set what the delivery sets itself:', 'Values are');
  const [whole = [], prefixes = []] = named.split('begins with').map(codeIn);

  it.each(suffixes)('has a host that ends in %s', async (suffix) => {
    expect((await create({ url: `https://receiver${suffix}/` })).status).toBe(400);
  });

  it.each([...whole, ...prefixes.map((prefix) => `${prefix}Anything`)])('has a header %s', async (name) => {
    expect((await create({ headers: { [name]: 'v' } })).status).toBe(400);
  });

  it('is found on the page', () => {
    expect([suffixes.length, whole.length, prefixes.length]).toEqual([15, 8, 4]);
  });
});
