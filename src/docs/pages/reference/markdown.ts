import { code, fence, table } from '../blocks.ts';
import {
  type ApiDocument,
  type Content,
  nameIn,
  type Operation,
  type Parameter,
  parametersOf,
} from './document.ts';
import { bounds, choices, fieldRows, typeOf } from './schema.ts';

/**
 * The API reference in Markdown, from the OpenAPI document: the operations by tag, the calls of receivers, and the
 * fields of each object.
 */
export const referenceMarkdown = (document: ApiDocument): string =>
  [
    '# API reference',
    document.info.description,
    `Calls carry a credential in the header \`${document.components.securitySchemes.ApiToken.name}\`. Samples are for a shell ` +
      'that was [set up](/docs/quick-start#1-set-up-your-shell) with `BASE_URL` and `TOKEN`. Any operation may also fail ' +
      'as the guide [Errors](/docs/errors) says, with a [Failure](#failure) as its body.',
    'The [OpenAPI document](/openapi.json) behind this page is for client generators and other tools. ' +
      '[Download it](/docs/fleet-data-service.openapi.json) to import it into Postman or Bruno.',
    ...document.tags.flatMap(({ name, description }) => [
      `## ${name}`,
      description,
      ...callsOf(document)
        .filter(({ operation }) => operation.tags.includes(name))
        .flatMap((call) => shown(document, call)),
    ]),
    '## Objects',
    ...objects(document),
  ]
    .filter(Boolean)
    .join('\n\n');

/** A call of clients, or one of the service to a receiver, which has no path. */
type Call = { method: string; path?: string; operation: Operation };

const callsOf = ({ paths, webhooks }: ApiDocument): Call[] => [
  ...Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  ),
  ...Object.values(webhooks).map(({ post }) => ({ method: 'POST', operation: post })),
];

function shown(document: ApiDocument, { method, path, operation }: Call): string[] {
  const { summary, description = '', requestBody } = operation;
  const body = requestBody?.content['application/json'];
  const success = successOf(operation);
  return [
    `### ${summary}`,
    description,
    path
      ? fence(`bash ${method} ${path}`, curl(document, method, path, operation))
      : fence('json POST to your receiver', JSON.stringify(body?.example, null, 2)),
    table(['Parameter', 'Type', 'Meaning'], parametersOf(document, operation).map(parameterRow)),
    body ? `Body: ${typeOf(body.schema)}.` : '',
    success ? returned(document, success.schema) : '',
    // One item is as its list shows it, which has an example.
    success && !(method === 'GET' && path?.endsWith('/{id}'))
      ? fence('json 200', JSON.stringify(success.example, null, 2))
      : '',
    table(['Status', 'Meaning', 'Field'], statusRows(operation)),
  ];
}

const parameterRow = ({ name, in: place, required, description, schema }: Parameter): string[] => [
  code(name),
  typeOf({ type: 'string', ...schema }) + bounds(schema),
  `${place === 'header' ? 'Header. ' : ''}${required ? 'Required. ' : ''}${description}${choices(schema)}`,
];

/** The call from a shell that is set up as in the quick start. */
function curl(document: ApiDocument, method: string, path: string, operation: Operation): string {
  const required = parametersOf(document, operation).filter((parameter) => parameter.required);
  const inPlace = (place: Parameter['in']) => required.filter((parameter) => parameter.in === place);
  const filled = inPlace('path').reduce(
    (left, { name, example }) => left.replace(`{${name}}`, `${example}`),
    path,
  );
  const query = inPlace('query').map(({ name, example }) => `${name}=${example}`);
  const body = operation.requestBody?.content['application/json'].example;
  const headers = [
    ...(operation.security.length > 0
      ? [`${document.components.securitySchemes.ApiToken.name}: $TOKEN`]
      : []),
    ...inPlace('header').map(({ name, example }) => `${name}: ${example}`),
    ...(body === undefined ? [] : ['Content-Type: application/json']),
  ];
  return [
    `curl -sS ${method === 'GET' ? '' : `-X ${method} `}"$BASE_URL${[filled, ...query].join('&').replace('&', '?')}"`,
    ...headers.map((header) => `-H "${header}"`),
    ...(body === undefined ? [] : [`-d '${JSON.stringify(body, null, 2)}'`]),
  ].join(' \\\n  ');
}

function returned({ components }: ApiDocument, { $ref = '' }: { $ref?: string }): string {
  const { data = {}, next, resume } = components.schemas[nameIn({ $ref })]?.properties ?? {};
  const cursors = [
    next && ' `next` is present if there are more pages.',
    resume && ' `resume` is always present.',
  ];
  return `Returns \`data\`: ${typeOf(data)}.${cursors.filter(Boolean).join('')}`;
}

/** The refusals of an operation besides those of all, or the meaning of a receiver's status. */
const statusRows = ({ responses }: Operation): string[][] =>
  Object.entries(responses).flatMap(([status, response]) => {
    if ('$ref' in response || status === '200') return [];
    const failures = Object.values(response.content?.['application/json'].examples ?? {});
    if (failures.length === 0) return [[status, response.description, '']];
    return failures.map(({ value: { message, errors = [] } }) => [
      status,
      code(message),
      errors.map(({ field }) => code(field)).join(', '),
    ]);
  });

/** A heading and a table for each object: all components but the envelopes of responses. */
function objects({ components, paths }: ApiDocument): string[] {
  const replies = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map((operation) => successOf(operation)?.schema.$ref),
  );
  return Object.entries(components.schemas)
    .filter(([name]) => !replies.includes(`#/components/schemas/${name}`))
    .flatMap(([name, schema]) => [
      `### ${name}`,
      schema.description ?? '',
      table(['Field', 'Type', 'Meaning'], fieldRows(schema)),
    ]);
}

/** The body of an operation's successful response. */
function successOf({ responses }: Operation): Content['application/json'] | undefined {
  const reply = responses[200];
  return reply && 'content' in reply ? reply.content?.['application/json'] : undefined;
}
