import { examples } from './examples.ts';

/** The parts of a JSON Schema that examples use. */
type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: { [name: string]: Schema };
  required?: string[];
};

/** Values of fields by name, where their schemas allow it. */
const fields: { [name: string]: unknown } = {
  accountId: '01a1fc69-ae8b-7c1e-b1e2-6f0a2d9c5e11',
  connectionId: '01a1fc69-ae9e-77d4-be7b-4bc5ae1cace7',
  account: 'Acme Insurance',
  home: 'eu',
  from: 'main',
  to: 'eu',
  name: 'Acme Insurance',
  email: 'ann@example.com',
  by: 'ann@example.com',
  provider: 'samsara',
  tSP: 'Samsara',
  organisation: 'Acme Trucking',
  credential: 'samsara_api_RI4FmOOGZFxxFrKwix',
  baseUrl: 'https://api.samsara.com',
  url: 'https://fleet.example.com/…',
  incidentTypeMap: { curb_strike: ['Unsafe Maneuver'] },
  lastFour: 'Y3ZA',
  value: 'fds_RI4FmOOGZFxxFrKwixWqSSAB2ruz_bE4OYZUEDKBLGY7ap3ZA',
  schema: ['trigger event_came: 8f3bd0a1c5e24976'],
  result: 'success',
  share: 0.314,
  latitude: 39.7392,
  longitude: -104.9903,
  kind: 'safetyEvent',
  sourceId: 'e-17',
  reason: 'location.latitude must be from -90 to 90',
  word: 'curb_strike',
};

const formats: { [format: string]: string } = {
  uuid: '01a1fc72-832c-703a-8362-7c4a9c12c554',
  'date-time': '2026-11-20T20:00:02.114Z',
  date: '2026-11-20',
};

const scalars: { [type: string]: unknown } = { string: '…', integer: 3, number: 0.5, boolean: false };

/**
 * An example of a schema, which may refer to `components`. One of `examples` is used for its component; others have the
 * required fields, or all if none is, and null where allowed.
 */
export function exampleOf(schema: Schema, components: { [name: string]: Schema }, field = ''): unknown {
  const { $ref, type = '', format = '', properties, required = [], items } = schema;
  if ($ref) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return examples[name] ?? exampleOf(components[name] ?? {}, components);
  }
  if ('const' in schema) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  const [first, ...others] = schema.anyOf ?? schema.oneOf ?? [];
  if (first) {
    const isNull = others.some((one) => one.type === 'null') && first.type !== 'object' && !first.$ref;
    return isNull ? null : exampleOf(first, components, field);
  }
  if (typeof fields[field] === (type === 'integer' ? 'number' : type)) return fields[field];
  if (items) return Array.isArray(fields[field]) ? fields[field] : [exampleOf(items, components)];
  if (type !== 'object') return formats[format] ?? scalars[type] ?? null;
  const shown = Object.entries(properties ?? {}).filter(([name]) => !required[0] || required.includes(name));
  return Object.fromEntries(shown.map(([name, one]) => [name, exampleOf(one, components, name)]));
}
