import { code } from '../blocks.ts';
import { nameIn, type Schema } from './document.ts';

/** A value's type in Markdown, with links to components. */
export function typeOf({
  $ref,
  type,
  format,
  anyOf,
  items,
  additionalProperties,
  ...schema
}: Schema): string {
  if ($ref) return linkTo(nameIn({ $ref }));
  if (anyOf) return anyOf.map((one) => (one.type === 'null' ? code(null) : typeOf(one))).join(' or ');
  if ('const' in schema) return code(schema.const);
  if (items) return `list of ${typeOf(items).replace(/^\w+$/, '$&s')}`;
  if (typeof additionalProperties === 'object') return `map of name to ${typeOf(additionalProperties)}`;
  return (format && formats[format]) ?? type ?? 'any';
}

const linkTo = (component: string): string => `[${component}](#${component.toLowerCase()})`;

const formats: { [format: string]: string } = {
  uuid: 'UUID',
  'date-time': 'time',
  date: 'date',
  uri: 'URL',
};

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

const spelledOut = (schema: Schema): Schema[] =>
  schema.properties ? [schema] : (schema.anyOf ?? []).flatMap(spelledOut);

/** A value's constraints: its range, its length, and its default. */
export function bounds({ minimum, maximum, maxLength, maxItems, default: usual }: Schema): string {
  const range = maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`;
  const all = [
    minimum !== undefined && range,
    maxLength !== undefined && `at most ${maxLength.toLocaleString('en')} characters`,
    maxItems !== undefined && `at most ${maxItems}`,
    usual !== undefined && `${code(JSON.stringify(usual))} by default`,
  ];
  return all.flatMap((one) => (one ? [`, ${one}`] : [])).join('');
}

/** The possible values. */
export const choices = ({ items, enum: values }: Schema): string =>
  items ? choices(items) : values ? ` One of ${values.map(code).join(', ')}.` : '';
