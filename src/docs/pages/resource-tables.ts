import * as v from 'valibot';
import { type Field, isGiven, isOmissible } from '../../fleet/lists/field.ts';
import { alternatives } from '../../fleet/lists/field-types.ts';
import type { List } from '../../fleet/lists/list.ts';
import { lists, recordKinds } from '../../fleet/lists/registry.ts';
import { retries } from '../../webhooks/deliveries/policy.ts';
import published from '../openapi/published/openapi.json' with { type: 'json' };
import { perEvent } from '../per-event.ts';
import { code, fence, table } from './blocks.ts';
import { costTable } from './costs.ts';
import { nameIn, type Schema } from './reference.ts';

/** Replaces a guide's placeholders, such as `<!-- kinds -->`, by what the code declares. */
export const withTables = (markdown: string): string =>
  markdown
    .replace('<!-- kinds -->', () => alternatives(lists.map(({ kind }) => code(kind))))
    .replace('<!-- lists -->', () =>
      table(
        ['Path', 'Connection-Id', 'In order of', 'Filters'],
        lists.map(({ list }) => listRow(list)),
      ),
    )
    .replace('<!-- records -->', () =>
      table(
        ['kind', 'fields'],
        recordKinds.map(({ kind, fields }) => [code(kind), recordFields(fields)]),
      ),
    )
    .replace('<!-- retries -->', retryTable)
    .replace('<!-- costs -->', costTable)
    .replace(/<!-- per-event (\w+) -->/g, (_, name) =>
      String(Object.entries(perEvent).find(([key]) => key === name)?.[1]),
    )
    .replace(/<!-- payload (\w+) -->/g, (_, name) => payload(name));

const components: { [name: string]: Schema & { examples?: unknown[] } } = published.components.schemas;

/** A component of the OpenAPI document: an example, and its JSON Schema with references inlined. */
function payload(name: string): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    ...components[name],
  };
  const inPlace = (key: string, value: unknown) => {
    if (key === 'examples') return undefined;
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
    const { $ref, ...rest } = value;
    return { ...components[nameIn({ $ref: String($ref) })], ...rest };
  };
  return [
    fence('json', JSON.stringify(components[name]?.examples?.[0], null, 2)),
    'Its JSON Schema:',
    fence('json', JSON.stringify(schema, inPlace, 2)),
  ].join('\n\n');
}

const retryTable = (): string => {
  const { waits, maxAttempts, hours, accidentWaits, maxAccidentAttempts } = retries;
  const numbers = waits.map((_, i) => String(i + 1));
  return `${table(['Attempt', ...numbers], [['wait after a failed attempt', ...waits]])}

Accidents are retried sooner at first: after ${accidentWaits}, and then as above from ${waits[2]} on.

Each wait varies by up to a fifth. After ${maxAttempts} attempts (${maxAccidentAttempts} for an accident), some ${hours} hours after the first, the delivery has failed.`;
};

function listRow({ path, connectionRequired, order, range, filters }: List): string[] {
  const ranges = { optional: ['`from`, `to`'], required: ['`from` and `to` (both required)'] };
  const rest = Object.entries(filters).map(([name, { query }]) => {
    const { enum: values } = v.getMetadata(query);
    return Array.isArray(values) ? `${code(name)} (${values.join(', ')})` : code(name);
  });
  const all = [...(range ? ranges[range] : []), ...rest];
  return [code(path), connectionRequired ? 'required' : 'optional', code(order), all.join(', ')];
}

/** The fields of a record, as `name?` if optional, and as `name[]` if lists. */
const recordFields = (fields: { [key: string]: Field }): string =>
  Object.entries(fields)
    .filter(([, field]) => isGiven(field))
    .map(([key, field]) => {
      const name = `${field.refersTo?.kind ?? key}${Array.isArray(field.holds) ? '[]' : ''}`;
      return isOmissible(field) ? `${name}?` : name;
    })
    .join(', ');
