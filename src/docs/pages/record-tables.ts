import { usable } from '../../core/fleet/lists/clean.ts';
import type { Fields } from '../../core/fleet/lists/field.ts';
import { evidenceFile, place, vehiclePlace } from '../../core/fleet/lists/field-objects.ts';
import { exampleInRecord } from '../../core/fleet/lists/record.ts';
import { recordKinds } from '../../core/fleet/lists/registry.ts';
import { capital } from '../../core/platform/text.ts';
import published from '../openapi/published/openapi.operator.json' with { type: 'json' };
import { code, table } from './blocks.ts';
import { bounds, choices, type Schema, typeOf } from './reference.ts';

const schemas: { [component: string]: Schema } = published.components.schemas;

/** The fields of each kind of record, and of the objects in them: a table each. */
export const recordTables = (): string =>
  [
    ...recordKinds.map(({ kind, recordFields }) =>
      section(kind, `${capital(kind)}Record`, recordFields),
    ),
    section('EvidenceLink', 'EvidenceLink', evidenceFile),
    section('Location', 'Location', place),
    section('VehicleLocation', 'VehicleLocation', vehiclePlace),
  ].join('\n\n');

function section(title: string, component: string, fields: Fields): string {
  const { description = '', properties = {}, required = [] } = schemas[component] ?? {};
  const names = [
    ...required,
    ...Object.keys(properties).filter((name) => !required.includes(name)),
  ];
  const rows = names.map((name) => {
    const { [name]: schema = {} } = properties;
    const { [name]: field } = fields;
    const type = schema.anyOf?.find((one) => one.type !== 'null') ?? schema;
    const used = (value: unknown) => field && usable(field.input, field.clean, value);
    const example = code(JSON.stringify(field ? exampleInRecord(field) : type.const));
    return [
      code(name),
      typeOf(type) + bounds(type) + (required.includes(name) ? ', **required**' : ''),
      (schema.description ?? '') +
        choices(type) +
        corrections(type, used) +
        (type.$ref ? '' : ` Example: ${example}`),
    ];
  });
  return [`## ${title}`, description, table(['Field', 'Type', 'Meaning'], rows)].join('\n\n');
}

/** What becomes of values beyond the bounds that are not dropped, as sentences. */
function corrections({ maxLength, minimum }: Schema, used: (value: unknown) => unknown): string {
  if (maxLength !== undefined && used('x'.repeat(maxLength + 1)) !== undefined)
    return ' Cut if it is longer.';
  return minimum === 0 && used(-1) === 1 ? ' A negative value is kept without its sign.' : '';
}
