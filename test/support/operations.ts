import { clientDocument } from '#src/docs/openapi/client.ts';
import { operatorDocument } from '#src/docs/openapi/operator.ts';
import { type ApiDocument, nameIn, parametersOf, type Schema } from '#src/docs/pages/reference.ts';
import { added } from './added.ts';

/** The object that a schema is, refers to, or allows beside null. */
function objectIn(document: ApiDocument, { $ref, anyOf = [], ...schema }: Schema): Schema {
  if ($ref) return document.components.schemas[nameIn({ $ref })] ?? {};
  return anyOf[0] ? objectIn(document, anyOf[0]) : schema;
}

type Property = { within: string[]; name: string; isOptional: boolean; isList: boolean };

/** Every property of a body, also of the objects in it. */
const propertiesOf = (document: ApiDocument, schema: Schema, within: string[] = []): Property[] => {
  const { properties = {}, required = [] } = objectIn(document, schema);
  return Object.entries(properties).flatMap(([name, property]) => [
    {
      within,
      name,
      isOptional: !required.includes(name),
      // An empty list of what a token may use would be no limit: it is refused.
      isList: property.type === 'array' && name !== 'connectionIds',
    },
    ...propertiesOf(document, property, [...within, name]),
  ]);
};

/** Every operation, but for calls that others sign, whose body is theirs. */
const documents = [clientDocument(), operatorDocument()] as ApiDocument[]; // as OpenAPI has it
const signed = added.flatMap((one) => one.signed ?? []);
export const operations = documents
  .flatMap((document) =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const schema = operation.requestBody?.content['application/json'].schema;
        const parameters = parametersOf(document, operation).filter((one) => one.in === 'query');
        return {
          route: `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
          parameters: parameters.map(({ name }) => name),
          properties: schema && propertiesOf(document, schema),
        };
      }),
    ),
  )
  .filter(({ route }) => !signed.includes(route));
