import fc from 'fast-check';
import { generateSync } from 'json-schema-faker';
import { type Described, type Json, type Made, resolved } from './contract.ts';

type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Json;
  example?: unknown;
};

/** Requests of one operation: as documented, with `known` values, and as nobody should send them. */
export function requestsFor(
  one: Described,
  known: Record<string, unknown>,
  { seed, count }: { seed: number; count: number },
): Made[] {
  const { components } = one.document;
  const asDocumented = (schema: Json) =>
    fc
      .integer({ min: 1 })
      .map((seed) => generateSync({ ...schema, components }, { seed, maxLength: 60 }));

  const parameters = parametersOf(one);
  const values = fc.tuple(
    ...parameters.map((parameter) =>
      fc.oneof(
        { weight: 8, arbitrary: valuesOf(parameter, known, asDocumented(parameter.schema)) },
        { weight: 1, arbitrary: hostileText.map((text) => [text]) },
        { weight: parameter.required ? 0 : 2, arbitrary: fc.constant<string[]>([]) },
      ),
    ),
  );
  const schema = one.operation.requestBody?.content['application/json'].schema;
  const bodies = schema ? bodyOf(asDocumented(schema), known) : fc.constant(undefined);
  const all = fc.tuple(values, bodies).map(([values, body]) => made(one, parameters, values, body));
  return fc.sample(all, { seed, numRuns: count });
}

/** An operation's request with the document's examples, and `known` values. */
export function usualRequest(one: Described, known: Record<string, unknown>): Made {
  const parameters = parametersOf(one).filter(({ required }) => required);
  const values = parameters.map(({ name, example }) => [String(known[name] ?? example)]);
  const body = one.operation.requestBody?.content['application/json'].example as Json | undefined; // all are objects
  return made(one, parameters, values, body && JSON.stringify(withKnown(body, known)));
}

const parametersOf = ({ document, operation: { parameters = [] } }: Described) =>
  parameters.map((part) => resolved(document, part) as Parameter); // as OpenAPI has it

function made(
  { template, method }: Described,
  parameters: Parameter[],
  values: string[][],
  body: string | undefined,
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
    ...(body !== undefined && { body }),
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
  fc.constantFrom('', ' ', '\0', '%00', '%', '..', "' or 1=1 --", '"', '\\', '{}', 'null'),
  fc.constantFrom('0', '-1', '1e999', '9'.repeat(300), '0x10', '1.5', '٣', '🚚', 'a'.repeat(3000)),
  fc.constantFrom('2026-02-31', '2026-11-20T24:00:00Z', '9999-12-31T23:59:59+23:59'),
  fc.constantFrom('constructor', '__proto__', 'toString'), // what every object inherits
);

/** A body as documented, with known values, or with one of its parts replaced. */
function bodyOf(
  documented: fc.Arbitrary<unknown>,
  known: Record<string, unknown>,
): fc.Arbitrary<string> {
  const reaching = documented.map((value) => withKnown(value as Json, known)); // all bodies are objects
  return fc.oneof(
    { weight: 2, arbitrary: documented.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: reaching.map((value) => JSON.stringify(value)) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(reaching, fc.nat(), fc.oneof(fc.jsonValue({ maxDepth: 3 }), hostileText))
        .map(([value, at, instead]) => spoil(JSON.stringify(value), at, instead)),
    },
    { weight: 1, arbitrary: hostileText },
  );
}

/** Puts something else in place of one of the values in a JSON text, or renames one of its keys. */
function spoil(text: string, at: number, instead: unknown): string {
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*":?|[-+.\de]+|true|false|null/g)];
  const token = tokens[at % Math.max(1, tokens.length)];
  if (!token) return JSON.stringify(instead);
  const other = token[0].endsWith(':') ? '"other":' : JSON.stringify(instead);
  return text.slice(0, token.index) + other + text.slice(token.index + token[0].length);
}
