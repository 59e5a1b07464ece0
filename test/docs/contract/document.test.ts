import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { breaksBetween } from '#src/cli/site/contract.ts';
import {
  type Json,
  operationsOf,
  partsOfReplies,
  readDocument,
  resolved,
} from '#test/support/node/contract.ts';
import { readJson, root, siteDirectory, temporaryFolder } from '#test/support/node/index.ts';

const directory = temporaryFolder();

const published = (name: string) => join(root, 'src/docs/openapi/published', name);

const names = ['openapi.json', 'openapi.operator.json'] as const;

it("the documents pass Redocly's recommended rules without a warning", { tags: ['proof'] }, () => {
  const program = join(root, 'node_modules/@redocly/cli/bin/cli.js');
  const env = { ...process.env, NO_COLOR: '1', REDOCLY_TELEMETRY: 'off' };
  const args = [program, 'lint', ...names.map((name) => join(siteDirectory, name))];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  expect(stdout + stderr).toContain('Your API descriptions are valid');
  expect(stdout + stderr).not.toMatch(/warning/i);
  expect(status).toBe(0);
});

it.each(names)(
  '%s is the published one; after an addition, `npm run contract` publishes it',
  (name) => {
    expect(readDocument(name)).toEqual(readJson(published(name)));
  },
);

type Schema = { properties: Record<string, Json>; required: string[] } & Union;
type Union = { oneOf: Json[]; discriminator: { mapping: Record<string, string> } };
const schema = (document: Json, name: string) =>
  (document as { components: { schemas: Record<string, Schema> } }).components.schemas[
    name
  ] as Schema;
const property = (document: Json, name: string, key: string) =>
  schema(document, name).properties[key] as {
    anyOf: [{ anyOf: Json[] }];
    enum: number[];
    items: Json;
  };

/** What breaks the published clients' document, or that with `before`, once it is changed so. */
function breaksAfter(
  change: (document: Json) => unknown,
  before: typeof change = () => {},
): string[] {
  const [from, to] = [before, change].map((changes, at) => {
    const document = readJson(published('openapi.json'));
    changes(document);
    const file = join(directory, `${at}.json`);
    writeFileSync(file, JSON.stringify(document));
    return file;
  });
  return breaksBetween(String(from), String(to));
}

it('changes that break clients are noticed, each of them', () => {
  const breaks = breaksAfter((document) => {
    delete (document.paths as Json)['/trips'];
    for (const [name, key] of [
      ['Vehicle', 'vin'],
      ['EventNotification', 'vehicleVin'],
    ] as const) {
      const { properties, required } = schema(document, name);
      delete properties[key];
      required.splice(required.indexOf(key), 1);
    }
    schema(document, 'WebhookInput').required.push('headers');
    const anyOf = [{ type: 'string' }, { type: 'integer' }];
    schema(document, 'Vehicle').properties.status = { anyOf };
    property(document, 'DeliverySummary', 'status').enum.push(9);
  }).join('\n');
  for (const change of [
    'Path `/trips` was removed',
    'Property `vin` of `Vehicle` was removed',
    'Property `vehicleVin` of `EventNotification` was removed',
    'Properties of `WebhookInput` became required: `headers`',
    "Type of `status` widened from 'string'",
    "Enum of `status` gained values: '9'",
  ])
    expect(breaks).toContain(change);
});

it('a type for a parameter that had none repairs it, and another type breaks clients', {
  tags: ['proof'],
}, () => {
  type Parameters = { get: { parameters: { name?: string; schema: Json }[] } };
  const withVin = (schema: Json) => (document: Json) => {
    const { get } = (document.paths as Record<string, Parameters>)['/vehicles'] as Parameters;
    Object.assign(get.parameters.find(({ name }) => name === 'vin') ?? {}, { schema });
  };
  const typed = withVin({ type: 'string', maxLength: 1000 });
  expect(breaksAfter(typed, withVin({}))).toEqual([]);
  expect(breaksAfter(withVin({ type: 'integer' }), typed).join()).toContain("from 'string'");
});

it.each(names)('%s accepts dates wherever a request has a time', (name) => {
  const document = readDocument(name);
  const asked = operationsOf(document).flatMap(({ operation: { parameters, requestBody } }) => {
    const body = resolved(document, requestBody?.content['application/json'].schema ?? {});
    return [
      ...(parameters ?? []).map((one) => resolved(document, one).schema as Json),
      ...Object.values((body.properties ?? {}) as Record<string, Json>),
    ];
  });
  expect(asked.filter(({ format }) => format === 'date-time')).toEqual([]);
  expect(JSON.stringify(asked)).toContain('"format":"date"');
});

it('generated clients can narrow a change by its kind', () => {
  const document = readDocument('openapi.json');
  const { oneOf, discriminator } = schema(document, 'Change');
  const mapped = Object.entries(discriminator.mapping).map(([kind, ref]) => ({ kind, $ref: ref }));
  expect(mapped.map(({ kind }) => kind)).toContain('safetyEvent');
  expect(mapped.map(({ $ref }) => ({ $ref }))).toEqual(oneOf);
  for (const { kind, $ref } of mapped)
    expect(property(document, $ref.split('/').at(-1) ?? '', 'kind')).toMatchObject({ const: kind });
});

it('what the guide Versioning says may come at any time is published', () => {
  const breaks = breaksAfter((document) => {
    Object.assign(document.paths as Json, { '/new': {} });
    for (const name of ['Webhook', 'EventNotification']) {
      schema(document, name).properties.more = { type: 'string' };
      schema(document, name).required.push('more');
    }
    schema(document, 'WebhookInput').properties.more = { type: 'string' };
    property(document, 'Change', 'data').anyOf[0].anyOf.push({ type: 'object' });
    schema(document, 'Change').oneOf.push({ type: 'object' });
    property(document, 'DeliverySummary', 'type').enum.push(3);
    for (const name of ['Webhook', 'WebhookInput'])
      (property(document, name, 'notificationTypes').items.enum as number[]).push(3);
  });
  expect(breaks).toEqual([]);
});

it.each(names)('every object in a reply or delivery of %s may get further properties', (name) => {
  const parts = partsOfReplies(readDocument(name));
  const isClosed = (part: Json) =>
    part.additionalProperties === false || part.unevaluatedProperties !== undefined;
  expect(parts.filter(isClosed)).toEqual([]);
  expect(parts.filter((part) => 'properties' in part).length).toBeGreaterThan(20);
});

it('an object of replies that is opened to further properties breaks nothing', () => {
  const closing = (document: Json) =>
    Object.assign(schema(document, 'Webhook'), { additionalProperties: false });
  expect(breaksAfter(() => {}, closing)).toEqual([]);
});
