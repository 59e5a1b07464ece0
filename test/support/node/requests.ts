import fc from 'fast-check';
import { generateSync } from 'json-schema-faker';
import { type Document, type Json, type Operation, resolved } from './contract.ts';

export type Made = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
};

type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Json;
  example?: unknown;
};

/** Requests of one operation: as documented, with `known` values, and as nobody should send them. */
export function requestsFor(
  document: Document,
  template: string,
  method: string,
  operation: Operation,
  known: Record<string, unknown>,
  { seed, count }: { seed: number; count: number },
): Made[] {
  const asDocumented = (schema: Json) =>
    fc
      .integer({ min: 1 })
      .map((seed) =>
        generateSync({ ...schema, components: document.components }, { seed, maxLength: 60 }),
      );

  const parameters = parametersOf(document, operation);
  const asItShould = fc.tuple(
    ...parameters.map((parameter) => {
      const values = valuesOf(parameter, known, asDocumented(parameter.schema));
      return parameter.required ? values : fc.oneof(values, nothing);
    }),
  );
  const anyhow = fc.tuple(
    ...parameters.map((parameter) =>
      fc.oneof(
        { weight: 6, arbitrary: valuesOf(parameter, known, asDocumented(parameter.schema)) },
        { weight: 3, arbitrary: hostileText.map((text) => [text]) },
        { weight: parameter.in === 'path' ? 0 : 1, arbitrary: nothing },
      ),
    ),
  );
  const values = fc.oneof(asItShould, anyhow);
  const schema = operation.requestBody?.content['application/json'].schema;
  const bodies = schema ? bodyOf(asDocumented(schema), known) : fc.constant({});
  const all = fc
    .tuple(values, bodies)
    .map(([values, body]) => made(template, method, parameters, values, body));
  return fc.sample(all, { seed, numRuns: count });
}

/** An operation's request with the document's examples, and `known` values. */
export function usualRequest(
  document: Document,
  template: string,
  method: string,
  operation: Operation,
  known: Record<string, unknown>,
): Made {
  const parameters = parametersOf(document, operation).filter(({ required }) => required);
  const values = parameters.map(({ name, example }) => [String(known[name] ?? example)]);
  const body = operation.requestBody?.content['application/json'].example as Json | undefined; // all are objects
  return made(
    template,
    method,
    parameters,
    values,
    body ? { body: JSON.stringify(withKnown(body, known)) } : {},
  );
}

const parametersOf = (document: Document, { parameters = [] }: Operation) =>
  parameters.map((part) => resolved(document, part) as Parameter); // as OpenAPI has it

function made(
  template: string,
  method: string,
  parameters: Parameter[],
  values: string[][],
  body: Body,
): Made {
  const url = { path: template, query: new URLSearchParams() };
  const headers: Record<string, string> = {};
  for (const [i, { name, in: place }] of parameters.entries())
    for (const value of values[i] ?? [])
      if (place === 'path') url.path = url.path.replace(`{${name}}`, () => inPath(value));
      else if (place === 'query') url.query.append(name, value);
      else headers[name] = value.replace(/[^\x20-\x7e]/g, '?').trim();
  return {
    method: method.toUpperCase(),
    path: url.query.size > 0 ? `${url.path}?${url.query}` : url.path,
    headers: { 'content-type': 'application/json', ...headers },
    ...body,
  };
}

/** The same with known values in place of its own. */
const withKnown = (value: Json, known: Record<string, unknown>): Json => ({
  ...value,
  ...Object.fromEntries(Object.entries(known).filter(([name]) => name in value)),
});

/** A path segment: not one that a URL parser would take for the folder itself or the one above. */
const inPath = (value: string): string =>
  /^\.{0,2}$/.test(value) ? 'dot' : encodeURIComponent(value);

const nothing = fc.constant<string[]>([]);

/** Values of a parameter as documented; a known one that is undefined is left out. */
const valuesOf = (
  { name }: Parameter,
  known: Record<string, unknown>,
  documented: fc.Arbitrary<unknown>,
): fc.Arbitrary<string[]> =>
  name in known
    ? fc.constant(known[name] === undefined ? [] : [String(known[name])])
    : documented.map((value) => (Array.isArray(value) ? value.map(String) : [String(value)]));

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    ...[
      '',
      ' ',
      '\0',
      '%00',
      '%',
      '..',
      '../operator/accounts',
      "' or 1=1 --",
      '"',
      '\\',
      '{}',
      'null',
      'true',
    ],
    ...[
      '0',
      '-1',
      '1e999',
      '9'.repeat(300),
      '0x10',
      '1.5',
      '٣',
      '🚚',
      'a'.repeat(3000),
      '2026-02-31',
    ],
    ...[
      '2026-11-20T24:00:00Z',
      '9999-12-31T23:59:59+23:59',
      '00000000-0000-0000-0000-000000000000',
    ],
  ),
);

type Body = Pick<Made, 'body'> & { headers?: Record<string, string> };

function bodyOf(
  documented: fc.Arbitrary<unknown>,
  known: Record<string, unknown>,
): fc.Arbitrary<Body> {
  const json = (value: unknown): Body => ({ body: JSON.stringify(value) });
  const reaching = documented.map((value) => withKnown(value as Json, known)); // all bodies are objects
  const spoiled = fc
    .tuple(reaching, fc.nat(), fc.oneof(fc.jsonValue({ maxDepth: 3 }), hostileText))
    .map(([value, at, instead]): Body => ({ body: spoil(JSON.stringify(value), at, instead) }));
  return fc.oneof(
    { weight: 2, arbitrary: documented.map(json) },
    { weight: 4, arbitrary: reaching.map(json) },
    { weight: 4, arbitrary: spoiled },
    { weight: 1, arbitrary: fc.jsonValue().map(json) },
    { weight: 1, arbitrary: fc.constantFrom(...noJson) },
  );
}

const noJson: Body[] = [
  ...['', '{', '[]', 'null', '"text"', '[[[', '{"a":1}}', '{"__proto__":{"records":[]}}'].map(
    (body) => ({
      body,
    }),
  ),
  { body: '['.repeat(50_000) },
  { body: JSON.stringify({ name: 'x'.repeat(70_000) }) },
  { body: new Uint8Array([0xff, 0xfe, 0x7b]) },
  { body: '{}', headers: { 'content-type': 'text/plain' } },
];

/** Puts something else in place of one of the values in a JSON text, or renames one of its keys. */
function spoil(text: string, at: number, instead: unknown): string {
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*":?|[-+.\de]+|true|false|null/g)];
  const token = tokens[at % Math.max(1, tokens.length)];
  if (!token) return JSON.stringify(instead);
  const other = token[0].endsWith(':') ? '"other":' : JSON.stringify(instead);
  return text.slice(0, token.index) + other + text.slice(token.index + token[0].length);
}
