import { code, table } from '../blocks.ts';
import {
  type ApiDocument,
  deliveredBy,
  envelopeOf,
  failuresOf,
  nameIn,
  offeredBy,
  type Reply,
} from './document.ts';
import { tagged } from './operations.ts';
import { fieldRows, refsIn, typeOf } from './schema.ts';

/**
 * The API reference in Markdown, from the OpenAPI document: the operations by tag, the calls of receivers, the common
 * parts of responses, and the fields of each object.
 */
export const referenceMarkdown = (document: ApiDocument): string =>
  [
    '# API reference',
    document.info.description,
    `Calls carry a credential in the header \`${document.components.securitySchemes.ApiToken.name}\`. Samples are for a shell ` +
      'that was [set up](/docs/quick-start#1-set-up-your-shell) with `BASE_URL` and `TOKEN`.',
    'The [OpenAPI document](/openapi.json) behind this page is for client generators and other tools. ' +
      '[Download it](/docs/fleet-data-service.openapi.json) to import it into Postman or Bruno.',
    ...document.tags.flatMap((tag) => tagged(document, tag)),
    ...shared(document),
    '## Objects',
    ...objects(document),
  ]
    .filter(Boolean)
    .join('\n\n');

/** The method and path of each operation, by its title, for the search. */
export const detailsOf = (document: ApiDocument): Map<string, string> =>
  new Map([
    ...offeredBy(document).map(
      ({ method, path, operation }) => [operation.summary, `${method} ${path}`] as const,
    ),
    ...deliveredBy(document).map(({ summary }) => [summary, 'a call to your receiver'] as const),
  ]);

/** The common parts of all operations: failures and headers. */
function shared({ components }: ApiDocument): string[] {
  const { responses, headers } = components;
  return [
    '## Failures',
    'Any operation may fail in these ways, with a [Failure](#failure) as its body.',
    table(
      ['Status', 'Message', 'Meaning'],
      Object.values(responses).flatMap((response) =>
        failuresOf(response).map(({ status, message }) => [
          String(status),
          code(message),
          response.description,
        ]),
      ),
    ),
    '## Response headers',
    table(
      ['Header', 'Type', 'Meaning'],
      Object.entries(headerNames(responses)).map(([name, component]) => {
        const { schema, description } = headers[component] ?? { schema: {}, description: '' };
        return [code(name), typeOf(schema), description];
      }),
    ),
  ];
}

const headerNames = (responses: { [name: string]: Reply }): { [header: string]: string } =>
  Object.fromEntries(
    Object.values(responses).flatMap(({ headers = {} }) =>
      Object.entries(headers).map(([name, ref]) => [name, nameIn(ref)]),
    ),
  );

/** A heading and a table for each object that operations or other objects refer to, in the order of references. */
function objects(document: ApiDocument): string[] {
  const { components } = document;
  const offered = offeredBy(document).map(({ operation }) => operation);
  const used = new Set(
    [
      ...[...offered, ...deliveredBy(document)].flatMap(
        ({ requestBody }) => requestBody?.content['application/json'].schema ?? [],
      ),
      ...offered.map(({ responses }) => envelopeOf(responses[200], components).data),
      { $ref: '#/components/schemas/Failure' },
    ].flatMap(refsIn),
  );
  // A set grows while it is iterated: objects that an object refers to follow it.
  for (const name of used) for (const inside of refsIn(components.schemas[name] ?? {})) used.add(inside);
  return [...used].flatMap((name) => {
    const schema = components.schemas[name] ?? {};
    return [`### ${name}`, schema.description ?? '', table(['Field', 'Type', 'Meaning'], fieldRows(schema))];
  });
}
