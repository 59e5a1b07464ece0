import { beforeAll, describe, expect, it } from 'vitest';
import { app } from '../../src/app.ts';
import { clientDocument } from '../../src/docs/openapi/client.ts';
import { operatorDocument } from '../../src/docs/openapi/operator.ts';
import { as, call, type WebhookOut, type World, webhookBody, world } from '../support/world.ts';

type Operation = {
  operationId: string;
  parameters?: object[];
  responses: { [status: string]: { content?: { 'application/json': { examples: object } } } };
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, { description?: string; properties?: Record<string, object> }>;
    headers: Record<string, object>;
  };
};
const client = clientDocument() as Document; // as OpenAPI has it
const operators = operatorDocument() as Document;

/** `GET /path` of each operation of a document, with its 400's messages. */
const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      has400: 400 in operation.responses,
      messages: Object.keys(operation.responses[400]?.content?.['application/json'].examples ?? {}),
    })),
  );

/** Those whose messages the documents have: all but the operators'. */
const described = [client, operators]
  .flatMap(operationsOf)
  .filter(({ name }) => !name.includes(' /operator'));

describe('the documents', () => {
  it('hold every route of the service but the portal, metrics and files, which are no JSON, and no other', () => {
    const routes = app.routes
      .filter(({ method, path }) => method !== 'ALL' && !/^\/portal|^\/operator\/metrics$|:file$/.test(path))
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const documented = [client, operators].flatMap(operationsOf).map(({ name }) => name);
    expect(documented.toSorted()).toEqual([...new Set(routes)].toSorted());
  });

  it('tell connectors and operators nothing in the document for customers', () => {
    const theirs = operationsOf(client).filter(({ name }) => /operator|ingest/.test(name));
    expect(theirs).toEqual([]);
  });

  it('say what each component and property means, for customers', () => {
    const { schemas } = client.components;
    const silent = Object.entries(schemas).flatMap(([name, { description, properties = {} }]) => [
      ...(description ? [] : [name]),
      ...Object.entries(properties)
        .filter(([, schema]) => !('description' in schema))
        .map(([property]) => `${name}.${property}`),
    ]);
    expect(silent).toEqual([]);
  });
});

describe('the messages of a 400 that the documents spell out', () => {
  let us: World;
  let webhooks: { ours: string; taken: string; lonely: string };
  beforeAll(async () => {
    us = await world();
    const register = async (more: object) =>
      (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us, more))).data;
    const [ours, taken, lonely] = [
      await register({}),
      await register({ notificationTypes: [2] }),
      await register({ connectionIds: [] }),
    ];
    webhooks = { ours: ours.id, taken: taken.id, lonely: lonely.id };
  });

  it.each<[name: string, message: string, body?: object, at?: keyof typeof webhooks]>([
    ['GET /vehicles', 'Connection-Id header is required'],
    ['POST /webhook', 'httpVerb must be POST or PUT', { httpVerb: 'GET' }],
    ['POST /webhook', 'notificationTypes must have at least one value', { notificationTypes: [] }],
    ['POST /webhook', 'Invalid connection ids', { connectionIds: [crypto.randomUUID()] }],
    ['POST /webhook', "Invalid URL, must use 'https'", { url: 'http://example.com' }],
    ['PUT /webhook/{id}', 'Invalid URL, must not contain credentials', { url: 'https://me@example.com' }],
    ['POST /webhook/{id}/test', 'level is for accidents alone', { type: 2, level: 1 }],
    [
      'POST /webhook/{id}/test',
      'This webhook has no connections, so nothing is sent to it',
      { type: 2 },
      'lonely',
    ],
    [
      'POST /webhook/{id}/test',
      'This webhook does not subscribe to that type of notification',
      { type: 1 },
      'taken',
    ],
  ])('%s: %s', async (name, message, body, at = 'ours') => {
    expect(described.find((one) => one.name === name)?.messages).toContain(message);
    const [method = '', path = ''] = name.split(' ');
    const reply = await call(method, path.replace('{id}', webhooks[at]), {
      headers: { 'x-api-key': us.apiToken },
      ...(body && { body: path.endsWith('/test') ? body : webhookBody(us, body) }),
    });
    expect([reply.status, reply.message]).toEqual([400, message]);
  });

  it('leave out only GET /webhooks, which refuses nothing but malformed HTTP', () => {
    const silent = described.filter(({ has400, messages }) => has400 && messages.length === 0);
    expect(silent.map(({ name }) => name)).toEqual(['GET /webhooks']);
  });
});

it('a 401 names the scheme that would be accepted, as the documents do', async () => {
  const schemeOf = async (path: string) => (await call('GET', path)).headers.get('www-authenticate');
  const found = [await schemeOf('/webhooks'), await schemeOf('/operator/accounts')];
  expect(found).toEqual(['ApiKey realm="Fleet Data Service"', 'Bearer realm="Fleet Data Service"']);
  const documented = [client, operators].map(({ components }) => components.headers.WwwAuthenticate);
  expect(documented).toMatchObject([found.slice(0, 1), found].map((examples) => ({ schema: { examples } })));
});
