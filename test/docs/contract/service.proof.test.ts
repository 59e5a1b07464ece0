import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { listen, type Received, servedBy, startReceiver } from '#src/cli/local/receiver.ts';
import { lists, recordKinds } from '#src/core/fleet/lists/registry.ts';
import { mediaLink, serveMedia } from '#src/dev/fakes/media.ts';
import {
  closed,
  operationsOf,
  readDocument,
  schemas,
  startProxy,
} from '#test/support/node/contract.ts';
import { temporaryFolder } from '#test/support/node/folder.ts';
import {
  addWebhook,
  api,
  fleetJson,
  listed,
  sharedAccount,
  until,
} from '#test/support/node/journey.ts';
import { type Made, usualRequest } from '#test/support/node/requests.ts';
import { vehicle } from '#test/support/records.ts';

const { stack, us } = await sharedAccount();
const directory = temporaryFolder();
const clients = closed(readDocument('openapi.json'));

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

it('GET /webhooks is 400 for a request that is not valid HTTP, as the document says', async () => {
  const { hostname, port } = new URL(stack.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET /webhooks HTTP/1.1\r\nHost: ${hostname}\r\nx-api-key: ${us.token}\r\nno header\r\n\r\n`,
  );
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 400 /);
});
