import { beforeAll, describe, expect, it } from 'vitest';
import { app } from '../../src/app.ts';
import { clientDocument } from '../../src/docs/openapi/client.ts';
import { operatorDocument } from '../../src/docs/openapi/operator.ts';
import { expiredCursor } from '../../src/fleet/changes/schema.ts';
import { encodeCursor } from '../../src/platform/db/cursor.ts';
import { newId } from '../../src/platform/db/ids.ts';
import { listPage } from '../support/fleet.ts';
import { vehicle } from '../support/records.ts';
import { rows } from '../support/rows.ts';
import {
  as,
  call,
  type IssuedToken,
  operator,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '../support/world.ts';

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
  it('hold every route of the service but the portal and the metrics, which are no JSON, and no other', () => {
    const routes = app.routes
      .filter(({ method, path }) => method !== 'ALL' && !/^\/portal|^\/operator\/metrics$/.test(path))
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

describe('every message that the documents give for a 400', () => {
  let us: World;
  let webhook: WebhookOut;
  let taken: WebhookOut;
  let lonely: WebhookOut;
  let paused: WebhookOut;
  beforeAll(async () => {
    us = await world({ providers: ['motive', 'samsara'] });
    await as(us.connection.ingestKey).send(vehicle(), vehicle({ sourceId: 'truck-2' }));
    vehicles = (await listPage(us.apiToken, '/vehicles', us.connection.id)).data.map(({ id }) => id);
    await as(us.apiToken).put(`/vehicles/${vehicles[0]}`, { externalId: 'taken' });
    await as(us.apiToken).put(`/connections/${us.connections[1]?.id}`, { externalId: 'taken' });
    webhook = (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us))).data;
    taken = (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us, { notificationTypes: [2] })))
      .data;
    lonely = (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us, { connectionIds: [] })))
      .data;
    paused = (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us))).data;
    await as(us.apiToken).post(`/webhook/${paused.id}/pause`, {});
    for (const id of [tooOld, unwanted, pending, paused.id])
      await rows(
        `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
         values (?1, ?2, ?3, 'told to nobody', 0, ?4, 1e15)`,
        id === paused.id ? id : webhook.id,
        id,
        us.accountId,
        id === pending || id === paused.id ? 'pending' : 'failed',
      );
  });
  let vehicles: (string | undefined)[];
  const tooOld = newId(Date.now() - 25 * 86_400_000);
  const unwanted = newId();
  const pending = newId();

  /** A cursor of the feed that leads to what changed in 1970. */
  const oldCursor = () =>
    encodeCursor([1], JSON.stringify(['/changes', us.accountId, us.connection.id, undefined]));

  type Wrong = { query?: string; headers?: Record<string, string>; id?: string; body?: unknown };

  const wrongFilters = (message: string, filters: object, notificationTypes = [1, 2]) => ({
    [message]: () => ({ body: webhookBody(us, { filters, notificationTypes }) }),
  });

  const wrongUrl = (message: string, url: string) => ({
    [message]: () => ({ body: webhookBody(us, { url }) }),
  });

  /** What to send so that the message comes. */
  const wrongs: Record<string, () => Wrong> = {
    'Connection-Id header is required': () => ({ headers: { 'connection-id': '' } }),
    'Invalid connection id': () => ({ headers: { 'connection-id': 'van' } }),
    'limit must be a whole number of at least 1': () => ({ query: 'limit=0' }),
    'Invalid cursor': () => ({ query: 'cursor=abc' }),
    [expiredCursor.message]: () => ({ query: `cursor=${oldCursor()}` }),
    'from is required': () => ({ query: 'from' }),
    'from must be before to': () => ({
      query: 'from=2026-11-21&to=2026-11-20',
      body: { from: '2026-11-21T00:00:00Z', to: '2026-11-20T00:00:00Z' },
    }),
    'Invalid webhook id': () => ({ id: crypto.randomUUID(), query: `webhookId=${crypto.randomUUID()}` }),
    ...wrongUrl("Invalid URL, must use 'https'", 'http://example.com'),
    ...wrongUrl('Invalid URL, must be a public address', 'https://nas.lan'),
    ...wrongUrl('Invalid URL, must use a host name instead of an IP address', 'https://8.8.8.8'),
    ...wrongUrl('Invalid URL, must not contain credentials', 'https://me@example.com'),
    ...wrongUrl('Invalid URL, must use port 443 or one from 1024 up', 'https://example.com:22'),
    'Webhook with this URL already exist': () => ({ body: webhookBody(us, { url: taken.url }) }),
    'Invalid connection ids': () => ({ body: webhookBody(us, { connectionIds: [crypto.randomUUID()] }) }),
    'httpVerb must be POST or PUT': () => ({ body: webhookBody(us, { httpVerb: 'GET' }) }),
    'notificationTypes must have at least one value': () => ({
      body: webhookBody(us, { notificationTypes: [] }),
    }),
    ...wrongFilters('filters.minEventRisk must be a whole number from 1 to 5', { minEventRisk: 0 }),
    ...wrongFilters('filters.incidentTypes.0 must be a normalised incident type', { incidentTypes: ['?'] }),
    ...wrongFilters('filters.vehicleGroups must have at least one value', { vehicleGroups: [] }),
    ...wrongFilters('filters.accidentLevels.0 must be 1, 2 or 3', { accidentLevels: [4] }),
    ...wrongFilters(
      'filters.minEventRisk needs 2 (event) among the notificationTypes',
      { minEventRisk: 4 },
      [1],
    ),
    ...wrongFilters(
      'filters.accidentLevels needs 1 (accident) among the notificationTypes',
      { accidentLevels: [1] },
      [2],
    ),
    'Request body is not valid JSON': () => ({ body: '{' }),
    'Request body is not valid UTF-8': () => ({ body: new Uint8Array([0xff]) }),
    'records must have at least one record': () => ({ body: { records: [] } }),
    'records can be at most 500 records': () => ({ body: { records: Array(501).fill({}) } }),
    'notify must be true or false': () => ({ body: { records: [{}], notify: 1 } }),
    'url is required': () => ({ body: { name: 'x', kind: 'slack' } }),
    'level is for accidents alone': () => ({ body: { type: 2, level: 1 } }),
    'This webhook has no connections, so nothing is sent to it': () => ({ id: lonely.id }),
    'This webhook does not subscribe to that type of notification': () => ({
      id: taken.id,
      body: { type: 1 },
    }),
    // A delivery has the same id.
    'This webhook is paused, resume it first': () => ({ id: paused.id }),
    'This delivery is pending, send it now instead': () => ({ id: pending }),
    'This delivery has ended, replay it instead': () => ({ id: unwanted }),
    'This delivery is too old to be replayed': () => ({ id: tooOld }),
    'The webhook does not subscribe to this notification any more': () => ({ id: unwanted }),
    'externalId is required': () => ({ body: {} }),
    'externalId is already used by another connection': () => ({ body: { externalId: 'taken' } }),
    'externalId is already used by another vehicle': () => ({
      id: vehicles[1] ?? '',
      body: { externalId: 'taken' },
    }),
  };
  /** A message that names a field of the query or the body: `status must be …`. */
  const fieldWrong = (name: string, message: string): Wrong => {
    const [field = ''] = message.split(' ');
    return { query: `${field}=?`, body: { name: 'x', ...valid[name], [field]: '?' } };
  };

  const valid: Record<string, object> = {
    'PUT /connections/{id}': { externalId: 'A' },
    'POST /webhook/{id}/replay': { dryRun: true },
    'POST /webhook/{id}/test': { type: 2 },
  };

  /** Tests and replays are limited by token. */
  const tokens = new Map<string, string>();
  const tokenFor = async (pattern: string) => {
    const path = `/operator/accounts/${us.accountId}/tokens`;
    const value = tokens.get(pattern) ?? (await operator.post<IssuedToken>(path, { name: 'one' })).data.value;
    tokens.set(pattern, value);
    return value;
  };

  const provoke = async (name: string, message: string) => {
    const [method = '', pattern = ''] = name.split(' ');
    const wrong = wrongs[message]?.() ?? fieldWrong(name, message);
    const id = pattern.startsWith('/connections') ? us.connection.id : webhook.id;
    const path = pattern.replace('{id}', wrong.id ?? id);
    const query = new URLSearchParams({
      ...(pattern === '/safety-events' && { from: '2026-11-20', to: '2026-11-21' }),
    });
    for (const [key, value] of new URLSearchParams(wrong.query))
      if (value) query.set(key, value);
      else query.delete(key);
    const key = pattern === '/ingest' ? us.connection.ingestKey : await tokenFor(pattern);
    return call(method, `${path}?${query}`, {
      headers: { 'x-api-key': key, 'connection-id': us.connection.id, ...wrong.headers },
      ...(!['GET', 'DELETE'].includes(method) && { body: wrong.body ?? valid[name] ?? webhookBody(us) }),
    });
  };

  const all = described
    .flatMap(({ name, messages }) => messages.map((message) => [name, message] as const))
    .filter(([, message]) => !message.includes('at most 1000 webhooks')); // in the tests of webhooks

  it('leaves no 400 without a message, but that of GET /webhooks, which only malformed HTTP provokes', () => {
    const silent = described.filter(({ has400, messages }) => has400 && messages.length === 0);
    expect(silent.map(({ name }) => name)).toEqual(['GET /webhooks']);
  });

  it.each(all)('%s: %s', async (name, message) => {
    const { status, ...reply } = await provoke(name, message);
    expect([status, reply.message]).toEqual([400, message]);
    const [field = ''] = message.split(' ');
    if (!wrongs[message] && /^[a-z]/.test(field))
      expect(reply.errors?.map((error) => error.field)).toContain(field);
  });
});

it('no reply is without the headers that the documents promise', async () => {
  const { headers } = await call('GET', '/webhooks');
  expect(headers.get('api-version')).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  expect(headers.get('x-request-id')).toBeTruthy();
  expect((await operator.get('/operator/accounts')).headers.get('api-version')).toBeTruthy();
});

it('a 401 names the scheme that would be accepted, as the documents do', async () => {
  const schemeOf = async (path: string) => (await call('GET', path)).headers.get('www-authenticate');
  const found = [await schemeOf('/webhooks'), await schemeOf('/operator/accounts')];
  expect(found).toEqual(['ApiKey realm="Fleet Data Service"', 'Bearer realm="Fleet Data Service"']);
  const documented = [client, operators].map(({ components }) => components.headers.WwwAuthenticate);
  expect(documented).toMatchObject([found.slice(0, 1), found].map((examples) => ({ schema: { examples } })));
});
