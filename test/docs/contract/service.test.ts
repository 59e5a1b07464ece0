import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { unlimited } from '../../../src/cli/local/configurations.ts';
import { listen, type Received, servedBy, startReceiver } from '../../../src/cli/local/receiver.ts';
import { lists, recordKinds } from '../../../src/core/fleet/lists/registry.ts';
import { mediaLink, serveMedia } from '../../../src/dev/fakes/media.ts';
import { checker, closed, readDocument, schemas, startProxy } from '../../support/node/contract.ts';
import { temporaryFolder } from '../../support/node/folder.ts';
import {
  addWebhook,
  api,
  fleetJson,
  type JourneyAccount,
  journeyAccount,
  listed,
  ownStack,
  until,
} from '../../support/node/journey.ts';
import { type Made, requestsFor, usualRequest } from '../../support/node/requests.ts';
import { vehicle } from '../../support/records.ts';

/** Another seed makes other requests; the failing ones name theirs. */
const seed = Number(process.env.SEED ?? 20_261_121);
const total = Number(process.env.REQUESTS ?? (process.env.FULL_PROOF ? 5000 : 1000));

const stack = ownStack({ change: unlimited });
const directory = temporaryFolder();
let us: JourneyAccount;
/** An account that operators may be cruel to. */
let other: JourneyAccount;
beforeAll(async () => {
  await stack.minute(); // the schema may be older than the time in which the first sweep must run
  us = await journeyAccount(stack);
  other = await journeyAccount(stack);
});

const clients = closed(readDocument('openapi.json'));
const operators = closed(readDocument('openapi.operator.json'));

/** The operations of a document. What others need is deleted last. */
const operationsOf = (document: typeof clients) =>
  Object.entries(document.paths)
    .flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        document,
        template,
        method,
        operation,
      })),
    )
    .toSorted((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'));

it('a validating proxy finds no deviation in any operation', async () => {
  const proxy = await startProxy(clients, stack.baseUrl, directory);
  const deliveries: Received[] = [];
  let receiverStatus = 410;
  const receiver = await startReceiver(stack.certificates, 0, (received, response) => {
    deliveries.push(received);
    response.writeHead(receiverStatus).end('not wanted');
  });
  const webhook = await addWebhook(stack, us, `${receiver.url}/ours`, {
    notificationTypes: [1, 2],
    signing: true,
  });
  const now = new Date().toISOString();
  const records = recordKinds.map(({ recordExample }) =>
    'startedAt' in recordExample
      ? { ...recordExample, startedAt: now, endedAt: now }
      : recordExample,
  );
  const media = await listen(stack.certificates, 0, servedBy(serveMedia));
  await fleetJson(stack, 'account', 'update', us.accountId, '--evidence-days', '30');
  const photo = { kind: 'photo', url: mediaLink(media.url, 'cab.jpg') };
  const withPhoto = records.map((record) =>
    record.kind === 'accident' ? { ...record, evidence: [photo] } : record,
  );
  await api(stack, us.ingestKey, 'POST', '/ingest', { records: [...withPhoto, vehicle()] });
  const failed = async () =>
    (await api<{ id: string }[]>(stack, us.token, 'GET', '/deliveries?status=failed')).data;
  await until('all have failed', async () => (await failed()).length === 2);
  receiverStatus = 503;

  const ids: { [list: string]: string | undefined } = {
    webhook,
    deliveries: (await failed())[0]?.id,
  };
  for (const { list } of lists) {
    const query = list.range ? '?from=2026-11-01&to=2100-01-01' : '';
    const [first] = await listed<Record<string, string>>(stack, us, list.path + query);
    ids[list.path.slice(1)] = first?.[list.id];
  }
  type Kept = { evidence?: { id: string; state: string }[] };
  const kept = async () =>
    (await api<Kept>(stack, us.token, 'GET', `/accidents/${ids.accidents}`)).data.evidence?.[0];
  await stack.minute();
  await until('the photo is stored', async () => (await kept())?.state === 'stored');
  ids.evidence = (await kept())?.id;
  const { id: exportId } = (
    await api<{ id: string }>(stack, us.token, 'POST', '/exports', { lists: ['trips'] })
  ).data;
  ids.exports = exportId;
  const exported = async () =>
    (await api<{ state: string }>(stack, us.token, 'GET', `/exports/${exportId}`)).data;
  await until('the export is ready', async () => (await exported()).state === 'ready');
  const call = async ({ path, ...request }: Made, key: string) => {
    const headers = { ...request.headers, 'x-api-key': key };
    return (await fetch(proxy.url + path, { ...request, headers })).status;
  };
  for (const { template, method, operation } of operationsOf(clients)) {
    const known = {
      'Connection-Id': us.connectionId,
      connectionIds: [us.connectionId],
      url: `${receiver.url}/${operation.operationId}`,
      id: ids[template.split('/')[1] ?? ''],
      evidenceId: ids.evidence,
    };
    const request = usualRequest(clients, template, method, operation, known);
    expect.soft(await call(request, us.token), operation.operationId).toBe(200);
    if (operation.security.length === 0) continue;
    const unknown = usualRequest(clients, template, method, operation, {
      ...known,
      id: crypto.randomUUID(),
    });
    if (template.includes('{id}')) expect.soft([400, 404]).toContain(await call(unknown, us.token));
    expect.soft(await call(request, us.ingestKey)).toBe(403);
    expect.soft(await call(request, `${us.token}x`)).toBe(401);
  }
  expect(proxy.deviations()).toEqual([]);
  expect(deliveries.length).toBeGreaterThan(1);
  for (const { headers, body } of deliveries) expect(wrongIn(headers, body)).toEqual([]);
  for (const { stop } of [media, receiver, proxy]) stop();
});

function wrongIn(headers: IncomingHttpHeaders, body: Received['body']): unknown[] {
  const delivery = clients.webhooks?.[body.type === 1 ? 'accident' : 'event']?.post;
  const check = schemas(clients);
  const parameters = (delivery?.parameters ?? []) as { name: string; schema: { type: string } }[];
  return [
    ...check(delivery?.requestBody?.content['application/json'].schema ?? {}, body),
    ...parameters.flatMap(({ name, schema }) => {
      const value = headers[name.toLowerCase()];
      return check(schema, schema.type === 'integer' ? Number(value) : value);
    }),
  ];
}

it(`${total} made-up requests get replies that the documents allow, and never a 5xx`, async () => {
  const webhook = await addWebhook(stack, us, 'https://receiver.example.com/', {
    notificationTypes: [1],
  });
  const [, bob] = await Promise.all(
    ['ann', 'bob'].map((name) =>
      fleetJson<{ id: string }>(
        stack,
        'user',
        'add',
        `${name}@example.com`,
        '--account',
        other.accountId,
      ),
    ),
  );
  const wrong: unknown[] = [];
  const statuses = new Map<string, Set<number>>();
  const operations = [clients, operators].flatMap(operationsOf);
  const count = Math.ceil(total / operations.length);
  const checks = new Map([clients, operators].map((document) => [document, checker(document)]));
  for (const { document, template, method, operation } of operations) {
    const known = {
      'Connection-Id': us.connectionId,
      connectionIds: [us.connectionId],
      url: `https://receiver.example.com/${operation.operationId}`,
      headers: { 'X-Secret': 's3cret' },
      email: 'ann@example.com',
      provider: 'samsara',
      expiresAt: '2036-11-20T20:00:00Z',
      incidentTypeMap: { bump: ['Crash'] },
      cursor: undefined, // one that is made up leads nowhere
      from: '2026-11-20',
      to: '2026-11-21T00:00:00Z',
      webhookId: webhook,
      userId: bob?.id,
      id: idFor(template, webhook),
    };
    const requests = requestsFor(document, template, method, operation, known, { seed, count });
    const seen = new Set<number>();
    statuses.set(operation.operationId, seen);
    const left = requests.values();
    const worker = async () => {
      for (const request of left) {
        const reply = await send(request, operation.security[0] ?? {});
        seen.add(reply.status);
        const problems = reply.status >= 500 ? ['a 5xx'] : checks.get(document)?.(operation, reply);
        if (problems?.length !== 0) wrong.push({ seed, request, reply, problems });
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  // Nothing that is made up leads to the others: what they are about has to be made first, or named to be deleted.
  const right = [...statuses].filter(([, seen]) => seen.has(200));
  expect(right.length).toBeGreaterThan(operations.length / 2);
});

it('GET /webhooks is 400 for a request that is not valid HTTP, as the document says', async () => {
  const { hostname, port } = new URL(stack.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET /webhooks HTTP/1.1\r\nHost: ${hostname}\r\nx-api-key: ${us.token}\r\nno header\r\n\r\n`,
  );
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 400 /);
});

const idFor = (template: string, webhook: string) => {
  const { accountId: accounts, connectionId: connections } = other;
  const ids: { [list: string]: string } = { accounts, connections };
  return ids[/^\/operator\/(\w+)/.exec(template)?.[1] ?? ''] ?? webhook;
};

async function send({ path, ...request }: Made, security: object) {
  const credentials: Record<string, Record<string, string>> = {
    ApiToken: { 'x-api-key': us.token },
    IngestKey: { 'x-api-key': us.ingestKey },
    OperatorKey: { authorization: `Bearer ${stack.operatorKey}` },
  };
  // Making requests can take so long that the service ends a connection that was kept, unseen.
  const headers = {
    ...request.headers,
    ...credentials[Object.keys(security)[0] ?? ''],
    connection: 'close',
  };
  const reply = await fetch(stack.baseUrl + path, { ...request, headers });
  const text = await reply.text();
  return { status: reply.status, headers: Object.fromEntries(reply.headers), text };
}
