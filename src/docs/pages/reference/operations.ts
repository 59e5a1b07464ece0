import { code, fence, table } from '../blocks.ts';
import {
  type ApiDocument,
  deliveredBy,
  envelopeOf,
  type FieldError,
  failuresOf,
  type Operation,
  offeredBy,
  type Parameter,
  type Reply,
  resolved,
} from './document.ts';
import { bounds, choices, typeOf } from './schema.ts';

/** The part of one tag: its operations in the order of their paths, then the calls of receivers. */
export function tagged(document: ApiDocument, { name, description }: ApiDocument['tags'][number]): string[] {
  const isHere = ({ tags }: Operation) => tags.includes(name);
  return [
    `## ${name}`,
    description,
    ...offeredBy(document)
      .filter(({ operation }) => isHere(operation))
      .flatMap((one) => offered(document, one)),
    ...deliveredBy(document)
      .filter(isHere)
      .flatMap((operation) => delivered(document, operation)),
  ];
}

type Offered = ReturnType<typeof offeredBy>[number];

/** An operation of clients. */
function offered(document: ApiDocument, one: Offered): string[] {
  const { method, path, operation } = one;
  const { summary, description = '', requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const { example } = responses[200].content?.['application/json'] ?? {};
  return [
    `### ${summary}`,
    description,
    fence(`bash ${method} ${path}`, curl(document, one)),
    table(['Parameter', 'Type', 'Meaning'], parametersOf(document, operation).map(parameterRow)),
    body ? `Body: ${typeOf(body.schema)}.` : '',
    returned(document, responses[200]),
    // One item is as its list shows it, which has an example.
    method === 'GET' && path.endsWith('/{id}') ? '' : fence('json 200', JSON.stringify(example, null, 2)),
    table(['Status', 'Message', 'Field'], refusalRows(operation)),
  ];
}

/** A call of a receiver. */
function delivered(document: ApiDocument, operation: Operation): string[] {
  const { summary, description = '', requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  return [
    `### ${summary}`,
    description,
    fence('json POST to your receiver', JSON.stringify(body?.example, null, 2)),
    body ? `Body: ${typeOf(body.schema)}.` : '',
    table(
      ['Header', 'Type', 'Meaning'],
      parametersOf(document, operation).map((header) => row(header)),
    ),
    table(
      ['Your receiver’s status', 'Meaning'],
      Object.entries(responses).map(([status, response]) => [
        status === 'default' ? 'any other' : status,
        resolved(response, document.components.responses).description,
      ]),
    ),
  ];
}

const parametersOf = ({ components }: ApiDocument, { parameters = [] }: Operation): Parameter[] =>
  parameters.map((parameter) => resolved(parameter, components.parameters));

const parameterRow = (parameter: Parameter): string[] =>
  row(parameter, `${parameter.in === 'header' ? 'Header. ' : ''}${parameter.required ? 'Required. ' : ''}`);

const row = ({ name, description, schema }: Parameter, before = ''): string[] => [
  code(name),
  typeOf({ type: 'string', ...schema }) + bounds(schema),
  before + description + choices(schema),
];

/** The call from a shell that is set up as in the quick start. */
function curl(document: ApiDocument, { method, path, operation }: Offered): string {
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

function returned({ components }: ApiDocument, reply: Reply): string {
  const { data, next, resume } = envelopeOf(reply, components);
  return [
    `Returns \`data\`: ${typeOf(data)}.`,
    next ? '`next` is present if there are more pages.' : '',
    resume ? '`resume` is always present.' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** The refusals of an operation. */
const refusalRows = ({ responses }: Operation): string[][] =>
  Object.entries(responses)
    .filter(([status]) => status !== '200')
    .flatMap(([status, response]) => {
      if ('$ref' in response || !response.content) return [];
      const failures = failuresOf(response);
      if (failures.length === 0) return [[status, '', response.description]];
      return failures.map(({ message, errors = [] }) => [
        status,
        code(message),
        errors.map((error) => saying(error, message)).join(', '),
      ]);
    });

/** A field and what it must be, unless the message says so. */
const saying = ({ field, message: must }: FieldError, message: string): string =>
  message.includes(must) ? code(field) : `${code(field)} ${must}`;
