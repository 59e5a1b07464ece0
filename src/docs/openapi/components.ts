import { toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';

export type Json = { [key: string]: unknown };

/** Descriptions by `Component`, `property` or `Component.property`, and examples by component. */
export type Texts = { words: Record<string, string>; examples: Record<string, unknown> };

/** The components of valibot schemas, of input with words and examples. */
export const components = (
  schemas: Record<string, v.GenericSchema>,
  texts: Texts,
): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(converted(schemas, 'input')).map(([name, schema]) => [
      name,
      described(name, schema, texts),
    ]),
  );

/** The components of valibot schemas, of input or output. */
export function converted(
  schemas: Record<string, v.GenericSchema>,
  typeMode: 'input' | 'output',
): Record<string, Json> {
  return toJsonSchemaDefs(schemas, {
    typeMode,
    target: 'draft-2020-12',
    ignoreActions: ['check', 'trim', 'to_lower_case', 'regex'],
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      completed(valibotSchema as Known, jsonSchema as Json),
  }) as Record<string, Json>;
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

function described(name: string, schema: Json, { words, examples }: Texts): Json {
  const { [name]: description } = words;
  const properties = schema.properties as Record<string, Json> | undefined; // as JSON Schema has it
  return {
    ...schema,
    ...(description && { description }),
    ...(properties && { properties: withWords(name, properties, words) }),
    ...(name in examples && { examples: [examples[name]] }),
  };
}

function withWords(
  name: string,
  properties: Record<string, Json>,
  words: Texts['words'],
): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(properties).map(([property, schema]) => {
      const description = words[`${name}.${property}`] ?? words[property];
      return [property, { ...within(schema, words), ...(description && { description }) }];
    }),
  );
}

/** A property's schema, with descriptions of inline objects. */
function within(schema: Json, words: Texts['words']): Json {
  const { anyOf, properties } = schema as { anyOf?: Json[]; properties?: Record<string, Json> }; // as JSON Schema has it
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map((one) => within(one, words)) }),
    ...(properties && { properties: withWords('', properties, words) }),
  };
}
