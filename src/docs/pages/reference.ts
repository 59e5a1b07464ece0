import { code, fence, table } from './blocks.ts';

export type ApiDocument = {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: { [path: string]: { [method: string]: Operation } };
  webhooks: { [name: string]: { post: Operation } };
  components: {
    securitySchemes: { ApiToken: { name: string } };
    parameters: { [name: string]: Parameter };
    headers: { [name: string]: object };
    schemas: { [name: string]: Schema };
  };
};

type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security: unknown[];
  parameters?: (Parameter | Ref)[];
  requestBody?: { content: Content };
  responses: { [status: string]: { description: string; content?: Content } | Ref };
};

type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
};

export type Content = {
  /** Of a file, in responses. */
  '*/*'?: object;
  'application/json': {
    schema: Schema;
    example?: unknown;
    examples?: { [name: string]: { value: Failed } };
  };
};

type Failed = { message: string; errors?: { field: string; message: string }[] };

export type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: { [name: string]: Schema };
  required?: string[];
  additionalProperties?: Schema | boolean;
};

type Ref = { $ref: string };

export const nameIn = ({ $ref }: Ref): string => $ref.slice($ref.lastIndexOf('/') + 1);

/** An operation's parameters, those of the components included. */
export const parametersOf = (
  { components }: ApiDocument,
  { parameters = [] }: Operation,
): Parameter[] =>
  parameters.flatMap((one) => ('$ref' in one ? (components.parameters[nameIn(one)] ?? []) : one));

/** The API reference in Markdown: operations by tag, receivers' calls, and fields of objects. */
export function referenceMarkdown(document: ApiDocument): string {
  const { info, tags, paths, webhooks, components } = document;
  const calls: Call[] = [
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    ),
    ...Object.values(webhooks).map(({ post }) => ({ method: 'POST', operation: post })),
  ];
  const envelopes = calls.map(({ operation }) => successOf(operation)?.schema.$ref);
  const objects = Object.entries(components.schemas).filter(
    ([name]) => !envelopes.includes(`#/components/schemas/${name}`),
  );
  return [
    '# API reference',
    info.description,
    `Calls carry a credential in the header \`${components.securitySchemes.ApiToken.name}\`. Samples are for a shell ` +
      'that was [set up](/docs/quick-start#1-set-up-your-shell) with `BASE_URL` and `TOKEN`. Any operation can also ' +
      'return an [error](/docs/errors), with a [Failure](#failure) as its body.',
    'The [OpenAPI document](/openapi.json) behind this page is for client generators and other tools. ' +
      '[Download it](/docs/fleet-data-service.openapi.json) to import it into Postman or Bruno.',
    ...tags.flatMap(({ name, description }) => [
      `## ${name}`,
      description,
      ...calls
        .filter(({ operation }) => operation.tags.includes(name))
        .flatMap((call) => callSection(document, call)),
    ]),
    '## Objects',
    ...objects.flatMap(([name, schema]) => [
      `### ${name}`,
      schema.description,
      table(['Field', 'Type', 'Meaning'], fieldRows(schema)),
    ]),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** A call of clients, or one of the service to a receiver, which has no path. */
type Call = { method: string; path?: string; operation: Operation };

function callSection(
  document: ApiDocument,
  { method, path, operation }: Call,
): (string | undefined)[] {
  const { summary, description, requestBody } = operation;
  const body = requestBody?.content['application/json'];
  const success = successOf(operation);
  return [
    `### ${summary}`,
    description,
    path
      ? fence(`bash ${method} ${path}`, curl(document, method, path, operation))
      : fence('json POST to your receiver', JSON.stringify(body?.example, null, 2)),
    table(['Parameter', 'Type', 'Meaning'], parametersOf(document, operation).map(parameterRow)),
    body && `Body: ${typeOf(body.schema)}.`,
    success && returned(document, success.schema),
    fileOf(operation),
    // One item is as its list shows it, which has an example.
    success && !(method === 'GET' && path?.endsWith('/{id}'))
      ? fence('json 200', JSON.stringify(success.example, null, 2))
      : undefined,
    table(['Status', 'Meaning', 'Field'], statusRows(operation)),
  ];
}

function successOf({ responses }: Operation): Content['application/json'] | undefined {
  const reply = responses[200];
  return reply && 'content' in reply ? reply.content?.['application/json'] : undefined;
}

/** What a response without JSON says of its file. */
function fileOf({ responses }: Operation): string | undefined {
  const reply = responses[200];
  return reply && 'content' in reply && reply.content?.['*/*'] ? reply.description : undefined;
}

/** The call from a shell that is set up as in the quick start. */
function curl(document: ApiDocument, method: string, path: string, operation: Operation): string {
  const required = parametersOf(document, operation).filter((parameter) => parameter.required);
  const inPlace = (place: Parameter['in']) =>
    required.filter((parameter) => parameter.in === place);
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
    `curl -sS ${fileOf(operation) ? '-OJ ' : ''}${method === 'GET' ? '' : `-X ${method} `}"$BASE_URL${[filled, ...query].join('&').replace('&', '?')}"`,
    ...headers.map((header) => `-H "${header}"`),
    ...(body === undefined ? [] : [`-d '${JSON.stringify(body, null, 2)}'`]),
  ].join(' \\\n  ');
}

const parameterRow = ({ name, in: place, required, description, schema }: Parameter): string[] => [
  code(name),
  typeOf({ type: 'string', ...schema }) + bounds(schema),
  `${place === 'header' ? 'Header. ' : ''}${required ? 'Required. ' : ''}${description}${choices(schema)}`,
];

function returned({ components }: ApiDocument, { $ref = '' }: Schema): string {
  const { data = {}, next, resume } = components.schemas[nameIn({ $ref })]?.properties ?? {};
  return [
    `Returns \`data\`: ${typeOf(data)}.`,
    ...(next ? ['`next` is present if there are more pages.'] : []),
    ...(resume ? ['`resume` is always present.'] : []),
  ].join(' ');
}

/** The refusals of an operation besides those of all, or the meaning of a receiver's status. */
const statusRows = ({ responses }: Operation): string[][] =>
  Object.entries(responses).flatMap(([status, response]) => {
    if ('$ref' in response || status === '200') return [];
    const failures = Object.values(response.content?.['application/json']?.examples ?? {});
    if (failures.length === 0) return [[status, response.description, '']];
    return failures.map(({ value: { message, errors = [] } }) => [
      status,
      code(message),
      errors.map(({ field }) => code(field)).join(', '),
    ]);
  });

/** A row per field of an object, including those of nested objects: name, type, and description. */
function fieldRows({ properties = {}, required = [] }: Schema, inside = ''): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const optional = required.includes(name) ? '' : ', optional';
    const nested = [field, ...(field.anyOf ?? [])].flatMap((one) =>
      fieldRows(one, `${inside}${name}.`),
    );
    return [
      [
        code(inside + name),
        typeOf(field) + bounds(field) + optional,
        (field.description ?? '') + choices(field),
      ],
      ...nested,
    ];
  });
}

/** The type of a value in words, with a link to an object's fields. */
export function typeOf(schema: Schema): string {
  const { $ref, type = 'any', format = '', anyOf, items, additionalProperties } = schema;
  if ($ref) return `[${nameIn({ $ref })}](#${nameIn({ $ref }).toLowerCase()})`;
  if (anyOf)
    return anyOf.map((one) => (one.type === 'null' ? code(null) : typeOf(one))).join(' or ');
  if ('const' in schema) return code(schema.const);
  if (items) return `list of ${typeOf(items).replace(/^\w+$/, '$&s')}`;
  if (typeof additionalProperties === 'object')
    return `map of name to ${typeOf(additionalProperties)}`;
  return formats[format] ?? type;
}

const formats: { [format: string]: string } = {
  uuid: 'UUID',
  'date-time': 'time',
  date: 'date',
  uri: 'URL',
  email: 'email',
};

/** The bounds of a value in words, and its default. */
export function bounds({ minimum, maximum, maxLength, maxItems, default: usual }: Schema): string {
  const range = maximum === undefined ? `at least ${minimum}` : `${minimum} to ${figure(maximum)}`;
  const all = [
    minimum !== undefined && range,
    maxLength !== undefined && `at most ${maxLength.toLocaleString('en')} characters`,
    maxItems !== undefined && `at most ${maxItems}`,
    usual !== undefined && `${code(JSON.stringify(usual))} by default`,
  ];
  return all.flatMap((one) => (one ? [`, ${one}`] : [])).join('');
}

/** A number with separators, unless it is a year. */
const figure = (value: number): string =>
  value < 10_000 ? String(value) : value.toLocaleString('en');

/** The values that one can be, in words. */
export const choices = ({ items, enum: values }: Schema): string =>
  items ? choices(items) : values ? ` One of ${values.map(code).join(', ')}.` : '';
