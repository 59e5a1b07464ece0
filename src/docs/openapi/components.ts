import { toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { examples } from './examples.ts';
import { describe } from './words.ts';

export type Json = { [key: string]: unknown };

/** The components of valibot schemas, of input with words and examples, or of output. */
export function components(
  schemas: Record<string, v.GenericSchema>,
  typeMode: 'input' | 'output' = 'input',
): Record<string, Json> {
  const converted = toJsonSchemaDefs(schemas, {
    typeMode,
    target: 'draft-2020-12',
    ignoreActions: ['check', 'trim', 'to_lower_case', 'regex'],
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      completed(valibotSchema as Known, jsonSchema as Json),
  }) as Record<string, Json>;
  if (typeMode === 'output') return converted;
  return Object.fromEntries(
    Object.entries(converted).map(([name, schema]) => [name, described(name, schema)]),
  );
}

/** Schemas that are written differently than the library does. */
type Known =
  | v.LiteralSchema<v.Literal, undefined>
  | v.VariantSchema<
      string,
      v.ObjectSchema<Record<string, v.LiteralSchema<v.Literal, undefined>>, undefined>[],
      undefined
    >
  | v.CustomSchema<unknown, undefined>;

function completed(schema: Known, written: Json): Json | null {
  switch (schema.type) {
    case 'custom': // its metadata describes it
      return written;
    case 'literal':
      return {
        type: typeof schema.literal === 'number' ? 'integer' : typeof schema.literal,
        ...written,
      };
    case 'variant': {
      const refs = written.oneOf as { $ref: string }[]; // its options are all components
      const mapping = schema.options.map(({ entries }, i) => [
        entries[schema.key]?.literal,
        refs[i]?.$ref,
      ]);
      return {
        ...written,
        discriminator: { propertyName: schema.key, mapping: Object.fromEntries(mapping) },
      };
    }
    default:
      return null;
  }
}

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function described(name: string, schema: Json): Json {
  const description = describe(name);
  const properties = schema.properties as Record<string, Json> | undefined; // as JSON Schema has it
  return {
    ...schema,
    ...(description && { description }),
    ...(properties && { properties: withWords(name, properties) }),
    ...(name in examples && { examples: [examples[name]] }),
  };
}

function withWords(name: string, properties: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(properties).map(([property, schema]) => {
      const description = describe(`${name}.${property}`) ?? describe(property);
      return [property, { ...within(schema), ...(description && { description }) }];
    }),
  );
}

/** A property's schema, with descriptions of inline objects. */
function within(schema: Json): Json {
  const { anyOf, properties } = schema as { anyOf?: Json[]; properties?: Record<string, Json> }; // as JSON Schema has it
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map(within) }),
    ...(properties && { properties: withWords('', properties) }),
  };
}
