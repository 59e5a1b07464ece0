import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import * as v from 'valibot';
import { lists, recordKinds } from '#src/core/fleet/lists/registry.ts';
import { IngestRecord } from '#src/core/ingest/schema.ts';
import { retries, schedule } from '#src/core/webhooks/deliveries/policy.ts';
import published from '#src/docs/openapi/published/openapi.json' with { type: 'json' };
import { readGuides } from '#src/docs/pages/guides.ts';
import { withTables } from '#src/docs/pages/resource-tables.ts';
import { readText, siteDirectory } from '#test/support/node/index.ts';

const guides = readGuides().map(({ markdown }) => markdown);

it.each(lists.map(({ list }) => list.path))('%s has a row in a table of the guides', (path) => {
  expect(guides.filter((guide) => guide.includes(`\n| \`${path}\` | `))).toHaveLength(1);
});

it('a row of a list says how it is read', () => {
  expect(withTables('<!-- lists -->')).toContain(
    '\n| `/drivers` | optional | `createdAt` | `status` (1, 0), `licenseState` |\n',
  );
});

it('the guides have the retry schedule and the timeout of the code', () => {
  const all = guides.map(withTables).join('\n').split('\n');
  expect(all).toContain(`| wait after a failed attempt | ${retries.waits.join(' | ')} |`);
  expect(all.join(' ')).toContain(`after ${retries.accidentWaits}, and then as above`);
  expect(retries.waits[1]).toBe(`${(schedule[1] ?? 0) / 60_000} min`);
  expect(all.join(' ')).toContain(
    `Any status from 200 to 299 within ${retries.timeoutSeconds} seconds.`,
  );
});

const records = withTables('<!-- records -->');

/** The rows of a table of records' fields: name, type, meaning, and example, unless that of an object. */
const fieldsOf = (title: string): string[][] =>
  [...(records.split(`## ${title}\n`)[1]?.split('##')[0] ?? '').matchAll(/^\| `.+\|$/gm)].map(
    ([row]) => row.slice(2, -2).split(/ \| | Example: (?=`[^`]*`$)/),
  );

const exampleOf = (title: string): object =>
  Object.fromEntries(
    fieldsOf(title).map(([name = '', type = '', , example = '']) => {
      const [, object] = /^\[(\w+)\]/.exec(type) ?? [];
      return [name.slice(1, -1), object ? exampleOf(object) : JSON.parse(example.slice(1, -1))];
    }),
  );

it.each(recordKinds)(
  '$kind records have a table of all fields, whose examples are accepted',
  (kind) => {
    const example = exampleOf(kind.kind);
    expect(Object.keys(example).sort()).toEqual(['kind', ...Object.keys(kind.recordFields)].sort());
    expect(v.safeParse(IngestRecord, example).issues).toBeUndefined();
  },
);

it('the fields of records come with their bounds, and what becomes of values beyond them', () => {
  const rowOf = (title: string, field: string) =>
    fieldsOf(title).find(([name]) => name === `\`${field}\``);
  expect(rowOf('vehicle', 'name')?.slice(1, 3)).toEqual([
    'string, at most 200 characters',
    'Its name. At most 200 bytes. Defaults to the sourceId. Cut if it is longer.',
  ]);
  expect(rowOf('trip', 'distanceKm')?.[1]).toBe('number, 0 to 100,000');
  expect(rowOf('accident', 'eventTime')?.[1]).toBe('time, **required**');
});

it('the quick start says on its first line which Node its programs need', () => {
  const [, , first] = (
    readGuides().find(({ path }) => path === 'quick-start')?.markdown ?? ''
  ).split('\n');
  expect(first).toContain(`Node ${process.versions.node.split('.')[0]}`);
});

it('the event catalogue has an example of each payload, and its JSON Schema', () => {
  const events = readGuides().find(({ path }) => path === 'events')?.markdown ?? '';
  const shown = [...events.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text = '']) =>
    JSON.parse(text),
  );
  const examples = shown.filter(({ data }) => data);
  const [schemas, ajv] = [shown.filter(({ $schema }) => $schema), formats.default(new Ajv2020())];
  expect(schemas).toHaveLength(Object.keys(published.webhooks).length);
  for (const [at, schema] of schemas.entries())
    expect(examples.map((example) => ajv.validate(schema, example))).toEqual(
      examples.map((_, other) => other === at),
    );
});

it('/llms.txt leads to each guide, the reference and the OpenAPI document', () => {
  const file = (path: string) => readText(siteDirectory, path);
  const lines = file('llms.txt').match(/^- .+$/gm) ?? [];
  const links = lines.map((line) => /\]\((\/[^)]+)\)/.exec(line)?.[1] ?? '');
  expect(links.slice(-2)).toEqual(['/docs/reference.md', '/openapi.json']);
  expect(links.slice(0, -2).map(file)).toEqual(guides);
  expect(lines.filter((line) => line.endsWith(':'))).toEqual([]);
});
