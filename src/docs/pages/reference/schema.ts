import { code } from '../blocks.ts';
import { nameIn, type Schema } from './document.ts';

/** A value's type in Markdown, with links to components. */
export function typeOf(schema: Schema): string {
  const { $ref, type, format, anyOf, items, additionalProperties } = schema;
  if ($ref) return linkTo(nameIn({ $ref }));
  if (anyOf) return alternatives(anyOf);
  if (schema.enum && !isLong(schema)) return either(schema.enum.map(code));
  if ('const' in schema) return code(schema.const);
  if (items) return `list of ${typeOf(items).replace(/^\w+$/, '$&s')}`;
  if (typeof additionalProperties === 'object') return `map of name to ${typeOf(additionalProperties)}`;
  return (format && formats[format]) ?? type ?? 'any';
}

/** A row per field of an object, including those of nested objects: name, type, and description. */
export function fieldRows({ properties = {}, required = [] }: Schema, inside = ''): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = inside + name;
    const optional = required.includes(name) ? '' : ', optional';
    return [
      [code(path), typeOf(field) + bounds(field) + optional, (field.description ?? '') + choices(field)],
      ...spelledOut(field).flatMap((object) => fieldRows(object, `${path}.`)),
    ];
  });
}

export function refsIn(schema: Schema): string[] {
  const { $ref, anyOf = [], items, properties = {}, additionalProperties } = schema;
  const named = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  const inside = [...anyOf, items, ...named, ...Object.values(properties)];
  return [
    ...($ref ? [nameIn({ $ref })] : []),
    ...inside.flatMap((part) => (part === undefined ? [] : refsIn(part))),
  ];
}

/** A value's constraints: its range, its length, and its default. */
export function bounds(schema: Schema): string {
  const { minimum, maximum, maxLength, maxItems } = schema;
  const least = minimum !== undefined && maximum === undefined ? `, at least ${minimum}` : '';
  const range = minimum !== undefined && maximum !== undefined ? `, ${minimum} to ${maximum}` : '';
  const length = maxLength === undefined ? '' : `, at most ${maxLength.toLocaleString('en')} characters`;
  const count = maxItems === undefined ? '' : `, at most ${maxItems}`;
  const fallback = schema.default === undefined ? '' : `, ${code(JSON.stringify(schema.default))} by default`;
  return least + range + length + count + fallback;
}

const linkTo = (component: string): string => `[${component}](#${component.toLowerCase()})`;

const formats: { [format: string]: string } = {
  uuid: 'UUID',
  'date-time': 'time',
  date: 'date',
  uri: 'URL',
};

/** The possible values, if they are too many for a type. */
export function choices({ items, ...schema }: Schema): string {
  if (items) return choices(items);
  return isLong(schema) ? ` One of ${schema.enum?.map(code).join(', ')}.` : '';
}

const isLong = ({ enum: values = [] }: Schema): boolean => values.length > 6;

const alternatives = (schemas: Schema[]): string =>
  either(schemas.map((schema) => (schema.type === 'null' ? code(null) : typeOf(schema))));

const either = (options: string[]): string => options.join(options.length === 2 ? ' or ' : ', ');

const spelledOut = (schema: Schema): Schema[] =>
  schema.properties ? [schema] : (schema.anyOf ?? []).flatMap(spelledOut);
