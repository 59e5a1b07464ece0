import { code, table } from '../blocks.ts';
import { type ApiDocument, dataOf, failuresOf, nameIn, type Reply } from './document.ts';
import { tagged } from './operations.ts';
import { fieldRows, refsIn, typeOf } from './schema.ts';

/**
 * The API reference in Markdown, made from the OpenAPI document: the operations by their tags, the calls that receivers
 * get, what all replies share, and the fields of each object.
 */
export const referenceMarkdown = (document: ApiDocument): string =>
  [
    '# API reference',
    document.info.description,
    'The [OpenAPI document](/openapi.json) behind this page is for client generators and other tools.',
    ...document.tags.flatMap((tag) => tagged(document, tag)),
    ...shared(document),
    '## Objects',
    ...objects(document),
  ]
    .filter(Boolean)
    .join('\n\n');

/** What stands beside each operation in a search: its method and path, by its title. */
export const detailsOf = ({ paths, webhooks }: ApiDocument): Map<string, string> =>
  new Map([
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { summary }]) => [summary, `${method.toUpperCase()} ${path}`] as const,
      ),
    ),
    ...Object.values(webhooks).map(({ post }) => [post.summary, 'a call to your receiver'] as const),
  ]);

/** What all operations have in common: how they fail, and their headers. */
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
    '## Headers of replies',
    table(
      ['Header', 'Type', 'Meaning'],
      Object.entries(headerNames(responses)).map(([name, component]) => {
        const { schema, description } = headers[component] ?? { schema: {}, description: '' };
        return [code(name), typeOf(schema), description];
      }),
    ),
  ];
}

/** The component of each header that any of these replies has, by its name. */
const headerNames = (responses: { [name: string]: Reply }): { [header: string]: string } =>
  Object.fromEntries(
    Object.values(responses).flatMap(({ headers = {} }) =>
      Object.entries(headers).map(([name, ref]) => [name, nameIn(ref)]),
    ),
  );

/** A heading and a table for each object that operations or other objects refer to, in the order in which they do. */
function objects({ paths, webhooks, components }: ApiDocument): string[] {
  const operations = [
    ...Object.values(paths).flatMap((methods) => Object.values(methods)),
    ...Object.values(webhooks).map(({ post }) => post),
  ];
  const replies = operations.flatMap(({ responses }) => responses[200] ?? []);
  const used = new Set(
    [
      ...operations.flatMap(({ requestBody }) => requestBody?.content['application/json'].schema ?? []),
      ...replies.map((reply) => dataOf(reply, components)),
      { $ref: '#/components/schemas/Failure' },
    ].flatMap(refsIn),
  );
  // A set grows while it is walked: what an object refers to comes after it.
  for (const name of used) for (const inside of refsIn(components.schemas[name] ?? {})) used.add(inside);
  return [...used].flatMap((name) => {
    const schema = components.schemas[name] ?? {};
    return [`### ${name}`, schema.description ?? '', table(['Field', 'Type', 'Meaning'], fieldRows(schema))];
  });
}
