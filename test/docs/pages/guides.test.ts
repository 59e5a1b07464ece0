import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, it } from 'vitest';
import { siteDirectory } from '../../../src/cli/project/paths.ts';
import published from '../../../src/docs/openapi/published/openapi.json' with { type: 'json' };
import { readGuides } from '../../../src/docs/pages/guides.ts';
import { withTables } from '../../../src/docs/pages/resource-tables.ts';
import { lists, recordKinds } from '../../../src/fleet/lists/registry.ts';
import { retries, schedule } from '../../../src/webhooks/deliveries/policy.ts';

const guides = readGuides().map(({ markdown }) => markdown);

it.each([...lists.map(({ list }) => list.path), ...recordKinds.map(({ kind }) => kind)])(
  '%s has a row in a table of the guides',
  (name) => {
    expect(guides.filter((guide) => guide.includes(`\n| \`${name}\` | `))).toHaveLength(1);
  },
);

it('a row of a list says how it is read', () => {
  const rows = withTables('<!-- lists -->').split('\n');
  expect(rows).toContain(
    '| `/safety-events` | required | `startedAt` | `from` and `to` (both required), `vehicleIds`, `driverIds`, ' +
      '`eventTypes`, `minEventRisk` |',
  );
  expect(rows).toContain('| `/drivers` | optional | `createdAt` | `status` (1, 0), `licenseState` |');
});

it('the guides have the retry schedule and the timeout of the code', () => {
  const all = guides.map(withTables).join('\n').split('\n');
  expect(all).toContain(`| wait after a failed attempt | ${retries.waits.join(' | ')} |`);
  expect(all.join(' ')).toContain(`after ${retries.accidentWaits}, and then as above`);
  expect(retries.waits[1]).toBe(`${(schedule[1] ?? 0) / 60_000} min`);
  expect(all.join(' ')).toContain(`Any status from 200 to 299 within ${retries.timeoutSeconds} seconds.`);
});

it('a row of a kind of record says what may be left out', () => {
  expect(withTables('<!-- records -->').split('\n')).toContain(
    '| `trip` | vehicle, driver?, startedAt, endedAt?, startLocation?, endLocation?, distanceKm?, durationSeconds? |',
  );
});

it('the quick start says on its first line which Node its programs need', () => {
  const [, , first] = (readGuides().find(({ path }) => path === 'quick-start')?.markdown ?? '').split('\n');
  expect(first).toContain(`Node ${process.versions.node.split('.')[0]}`);
});

it('the event catalogue has an example of each payload, and a JSON Schema that only this example passes', () => {
  const events = readGuides().find(({ path }) => path === 'events')?.markdown ?? '';
  const shown = [...events.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text = '']) => JSON.parse(text));
  const examples = shown.filter(({ data }) => data);
  const [schemas, ajv] = [shown.filter(({ $schema }) => $schema), formats.default(new Ajv2020())];
  expect(schemas).toHaveLength(Object.keys(published.webhooks).length);
  for (const [at, schema] of schemas.entries())
    expect(examples.map((example) => ajv.validate(schema, example))).toEqual(
      examples.map((_, other) => other === at),
    );
});

it('/llms.txt leads programs to each guide and the reference as Markdown, and to the OpenAPI document', () => {
  const file = (path: string) => readFileSync(join(siteDirectory, path), 'utf8');
  const links = [...file('llms.txt').matchAll(/\]\((\/[^)]+)\)/g)].map(([, path = '']) => path);
  expect(links.slice(-2)).toEqual(['/docs/reference.md', '/openapi.json']);
  expect(links.slice(0, -2).map(file)).toEqual(guides);
  const summaries = file('llms.txt').match(/^- .+$/gm) ?? [];
  expect(summaries.filter((line) => line.endsWith(':'))).toEqual([]);
  expect(summaries.filter((line) => / in the header x-api-key of every request\.$/.test(line))).toHaveLength(
    1,
  );
});
