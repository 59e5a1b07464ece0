import { app } from '#src/app.ts';
import { encodeCursor } from '#src/core/platform/db/cursor.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { clientDocument } from '#src/docs/openapi/client.ts';
import { operatorDocument } from '#src/docs/openapi/operator.ts';
import type { ApiDocument, Content } from '#src/docs/pages/reference.ts';
import { expiredCursor } from '#src/extras/changes/schema.ts';
import { isAsDue, needsWebhook } from '#src/extras/delivery-log/list.ts';
import { exportInProgress } from '#src/extras/exports/exports.ts';
import {
  addRows,
  call,
  issueToken,
  listPage,
  register,
  vehicle,
  type World,
  webhookBody,
  world,
} from '#test/support.ts';

const client = clientDocument() as ApiDocument; // as OpenAPI has it
const operators = operatorDocument() as ApiDocument;

/** `GET /path` of each operation of a document, with its 400s. */
const operationsOf = (document: ApiDocument) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses, ...operation }]) => {
      const { content } = (responses[400] ?? {}) as { content?: Content }; // a component has none
      return {
        name: `${method.toUpperCase()} ${path}`,
        has400: 400 in responses,
        hasBody: 'requestBody' in operation,
        refusals: Object.values(content?.['application/json'].examples ?? {}).map(
          ({ value }) => value,
        ),
      };
    }),
  );

/** Those whose 400s the documents spell out: all but the operators'. */
const described = [client, operators]
  .flatMap(operationsOf)
  .filter(({ name }) => !name.includes(' /operator'));

it('the documents hold every route but the portal and parts of moves', () => {
  const routes = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    .filter((name) => !/ \/portal|^PUT .+\/move$/.test(name));
  const documented = [client, operators].flatMap(operationsOf).map(({ name }) => name);
  expect(documented.toSorted()).toEqual([...new Set(routes)].toSorted());
});

it('the documents tell connectors and operators nothing in the document for customers', () => {
  const theirs = operationsOf(client).filter(({ name }) => /operator|ingest/.test(name));
  expect(theirs).toEqual([]);
});

type Schema = { description?: string; properties?: Record<string, Schema>; anyOf?: Schema[] };

it('the documents say what each component and property means, for customers', () => {
  const { schemas } = client.components;
  const silent = ([name, { description, ...schema }]: [string, Schema]): string[] => {
    const { properties = {} } = schema.anyOf?.find((one) => one.properties) ?? schema;
    const within = Object.entries(properties).map(
      ([property, one]) => [`${name}.${property}`, one] as [string, Schema],
    );
    return [...(description ? [] : [name]), ...within.flatMap(silent)];
  };
  expect(Object.entries(schemas as Record<string, Schema>).flatMap(silent)).toEqual([]);
});

/** What is wrong with a request. By default, that is the field which the 400 names. */
type Wrong = {
  id?: string | undefined;
  query?: string;
  headers?: Record<string, string>;
  body?: object | string;
};

describe('every 400 that the documents spell out', () => {
  let us: World;
  let webhook: string;
  let wrongs: Record<string, Wrong>;
  beforeAll(async () => {
    us = await world('motive', 'samsara');
    const client = us.api;
    webhook = (await register(us)).id;
    const taken = await register(us, { notificationTypes: [2] });
    const lonely = await register(us, { connectionIds: [] });
    const { id: paused } = await register(us);
    await client.post(`/webhook/${paused}/pause`, {});
    await us.send(vehicle(), vehicle({ sourceId: 'truck-2' }));
    const [first, second] = (await listPage(us.apiToken, '/vehicles', us.connection.id)).data;
    await client.put(`/vehicles/${first?.id}`, { externalId: 'taken' });
    await client.put(`/connections/${us.connections[1]?.id}`, { externalId: 'taken' });
    const [pending, unwanted, tooOld] = [newId(), newId(), newId(Date.now() - 25 * 86_400_000)];
    const ofWebhook = { account_id: us.accountId, webhook_id: webhook, next_attempt_at: 1e15 };
    const deliveries = [
      { id: pending, status: 'pending' },
      { id: unwanted, status: 'failed' },
      { id: tooOld, status: 'failed' },
      { id: paused, status: 'pending', webhook_id: paused }, // so that one id is that of both
    ];
    await addRows('deliveries', deliveries.length, (i) => ({ ...ofWebhook, ...deliveries[i] }));
    await addRows('exports', 1, () => ({
      id: newId(),
      account_id: us.accountId,
      wanted: '{}',
      next_at: 1e15,
      expires_at: 1e15,
    }));
    const of1970 = encodeCursor(
      [1],
      JSON.stringify(['/changes', us.accountId, us.connection.id, undefined]),
    );
    const unknown = crypto.randomUUID();
    wrongs = {
      'Connection-Id header is required': { headers: { 'connection-id': '' } },
      'Invalid connection id': { headers: { 'connection-id': 'van' } },
      [expiredCursor.message]: { query: `cursor=${of1970}` },
      'from is required': { query: 'from=' },
      'from must be before to': {
        query: 'from=2026-11-21&to=2026-11-20',
        body: { from: '2026-11-21T00:00:00Z', to: '2026-11-20T00:00:00Z' },
      },
      [`order ${needsWebhook}`]: { query: 'order=newest' },
      [`order ${isAsDue}`]: { query: `order=newest&webhookId=${unknown}&status=pending` },
      'Invalid webhook id': { id: unknown, query: `webhookId=${unknown}` },
      'Webhook with this URL already exist': { body: { url: taken.url } },
      'Request body is not valid gzip': { headers: { 'content-encoding': 'gzip' }, body: 'x' },
      'This webhook has no connections, so nothing is sent to it': { id: lonely.id },
      'This webhook does not subscribe to that type of notification': {
        id: taken.id,
        body: { type: 1 },
      },
      'This webhook is paused, resume it first': { id: paused },
      'This delivery is pending, send it now instead': { id: pending },
      'This delivery has ended, replay it instead': { id: unwanted },
      'This delivery is too old to be replayed': { id: tooOld },
      'The webhook does not subscribe to this notification any more': { id: unwanted },
      [exportInProgress]: {},
      'externalId is already used by another connection': {
        id: us.connection.id,
        body: { externalId: 'taken' },
      },
      'externalId is already used by another vehicle': {
        id: second?.id,
        body: { externalId: 'taken' },
      },
    };
  });

  /** Bodies that are wrong whatever there is. */
  const wrongBodies: Record<string, object | string> = {
    "Invalid URL, must use 'https'": { url: 'http://example.com' },
    'Invalid URL, must be a public address': { url: 'https://nas.lan' },
    'Invalid URL, must use a host name instead of an IP address': { url: 'https://8.8.8.8' },
    'Invalid URL, must not contain credentials': { url: 'https://me@example.com' },
    'Invalid URL, must use port 443 or one from 1024 up': { url: 'https://example.com:22' },
    'headers is required': { headers: undefined },
    'Invalid connection ids': { connectionIds: [crypto.randomUUID()] },
    'notificationTypes must have at least one value': { notificationTypes: [] },
    'filters.minEventRisk must be a whole number from 1 to 5': { filters: { minEventRisk: 0 } },
    'filters.incidentTypes.0 must be a normalised incident type': {
      filters: { incidentTypes: ['?'] },
    },
    'filters.vehicleGroups.0 must not be empty': { filters: { vehicleGroups: [''] } },
    'filters.accidentLevels.0 must be 1, 2 or 3': { filters: { accidentLevels: [4] } },
    'filters.minEventRisk needs 2 (event) among the notificationTypes': {
      filters: { minEventRisk: 4 },
      notificationTypes: [1],
    },
    'filters.accidentLevels needs 1 (accident) among the notificationTypes': {
      filters: { accidentLevels: [1] },
      notificationTypes: [2],
    },
    'Request body is not valid JSON': '{',
    'Request body is not valid UTF-8': new Uint8Array([0xff]),
    'records must have at least one item': { records: [] },
    'records can have at most 500 items': { records: Array(501).fill({}) },
    'level is for accidents alone': { type: 2, level: 1 },
    'lists.0 must be the path of a list, such as safety-events': { lists: ['?'] },
    'formats.0 must be csv or parquet': { formats: ['?'] },
    'externalId is required': { externalId: undefined },
  };

  const valid: Record<string, object> = {
    'POST /webhook/{id}/replay': { dryRun: true },
    'POST /webhook/{id}/test': { type: 2 },
    'POST /ingest': { records: [{}] },
    'POST /exports': {},
    'PUT /connections/{id}': { externalId: 'one' },
    'PUT /vehicles/{id}': { externalId: 'one' },
  };

  it.each(
    described
      .flatMap(({ name, hasBody, refusals }) =>
        refusals.map((refusal) => [name, refusal.message, { ...refusal, hasBody }] as const),
      )
      .filter(([, message]) => !/at most (?:1000 webhooks|5 exports)/.test(message)), // in tests of these
  )('%s: %s', async (name, message, { errors, hasBody }) => {
    const [method = '', path = ''] = name.split(' ');
    const field = errors?.[0]?.field ?? '';
    const byField = { query: `${field}=?`, body: wrongBodies[message] ?? { [field]: '?' } };
    const wrong: Wrong = wrongs[message] ?? byField;
    const range = path === '/safety-events' ? { from: '2026-11-20', to: '2026-11-21' } : {};
    const asked = wrong.id && path.includes('{id}') ? '' : wrong.query;
    const query = { ...range, ...Object.fromEntries(new URLSearchParams(asked)) };
    const given = Object.entries(query).filter(([, value]) => value && method === 'GET');
    const token = await issueToken(us.accountId); // tests and replays are limited by token
    const { body = {} } = wrong;
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const reply = await call(
      method,
      `${path.replace('{id}', wrong.id ?? webhook)}?${new URLSearchParams(given)}`,
      {
        headers: {
          'x-api-key': path === '/ingest' ? us.connection.ingestKey : token.value,
          'connection-id': us.connection.id,
          ...wrong.headers,
        },
        ...(hasBody && { body: raw ? body : { ...(valid[name] ?? webhookBody(us)), ...body } }),
      },
    );
    expect({ status: reply.status, message: reply.message, errors: reply.errors }).toEqual({
      status: 400,
      message,
      errors,
    });
  });

  it('is one at least', () => {
    const silent = described.filter(({ has400, refusals }) => has400 && refusals.length === 0);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});
