// @module-tag proof
// More than 15 s: waits until deliveries have failed, and files are there.
import type { IncomingHttpHeaders } from 'node:http';
import { lists as allLists, recordKinds } from '#src/core/fleet/lists/registry.ts';
import { mediaLink, serveMedia } from '#src/dev/fakes/media.ts';
import {
  checker,
  closed,
  type Operation,
  operationsOf,
  readDocument,
  schemas,
} from '#test/support/node/contract.ts';
import {
  fleetJson,
  listen,
  type Received,
  servedBy,
  sharedAccount,
  startReceiver,
  until,
  vehicle,
} from '#test/support/node/index.ts';
import { usualRequest } from '#test/support/node/requests.ts';

const { stack, us } = await sharedAccount();
const clients = closed(readDocument('openapi.json'));

it('each operation replies as the document says, and deliveries are as it says', async () => {
  const deliveries: Received[] = [];
  let receiverStatus = 410;
  const receiver = await startReceiver(stack.certificates, 0, (received, response) => {
    deliveries.push(received);
    response.writeHead(receiverStatus).end('not wanted');
  });
  const webhook = await us.register(`${receiver.url}/ours`, {
    notificationTypes: [1, 2],
    signing: true,
  });
  const now = new Date().toISOString();
  const media = await listen(stack.certificates, 0, servedBy(serveMedia));
  await fleetJson(stack, 'account update', us.accountId, '--evidence-days', '30');
  const evidence = [{ kind: 'photo', url: mediaLink(media.url, 'cab.jpg') }];
  const records = recordKinds.map(({ kind, recordExample }) => ({
    ...recordExample,
    ...('startedAt' in recordExample && { startedAt: now, endedAt: now }),
    ...(kind === 'accident' && { evidence }),
  }));
  await us.send([...records, vehicle()]);
  const failed = () => us.get<{ id: string }[]>('/deliveries?status=failed');
  await until('all have failed', async () => (await failed()).length === 2);
  receiverStatus = 503;

  const ids: { [list: string]: string | undefined } = {
    webhook,
    deliveries: (await failed())[0]?.id,
  };
  for (const { list } of allLists) {
    const query = list.range ? '?from=2026-11-01&to=2100-01-01' : '';
    const [first] = await us.get<Record<string, string>[]>(list.path + query);
    ids[list.path.slice(1)] = first?.[list.id];
  }
  type Kept = { evidence?: { id: string; state: string }[] };
  const kept = async () => (await us.get<Kept>(`/accidents/${ids.accidents}`)).evidence?.[0];
  await stack.minute();
  await until('the photo is stored', async () => (await kept())?.state === 'stored');
  ids.evidence = (await kept())?.id;
  type Export = { id: string; state: string };
  const lists = ['trips'];
  const { data } = await us.call<Export>('POST', '/exports', { lists });
  ids.exports = data.id;
  const exported = () => us.get<Export>(`/exports/${data.id}`);
  await until('the export is ready', async () => (await exported()).state === 'ready');
  const check = checker(clients, stack.baseUrl);
  for (const one of operationsOf(clients)) {
    const { template, operation } = one;
    const known = {
      'Connection-Id': us.connectionId,
      connectionIds: [us.connectionId],
      url: `${receiver.url}/${operation.operationId}`,
      id: ids[template.split('/')[1] ?? ''],
      evidenceId: ids.evidence,
    };
    const request = usualRequest(one, known);
    const unknown = usualRequest(one, { ...known, id: crypto.randomUUID() });
    for (const [made, key, statuses] of [
      [request, us.token, [200]],
      ...(template.includes('{id}') ? [[unknown, us.token, [400, 404]] as const] : []),
      ...(operation.security.length > 0
        ? ([
            [request, us.ingestKey, [403]],
            [request, `${us.token}x`, [401]],
          ] as const)
        : []),
    ] as const) {
      const { status, text, problems } = await check(operation, made, { 'x-api-key': key });
      expect.soft(statuses, operation.operationId).toContain(status);
      expect.soft(problems, operation.operationId).toEqual([]);
      const message = messageOf(operation);
      if (status === 200 && message)
        expect.soft(JSON.parse(text), operation.operationId).toMatchObject({ message });
    }
  }
  expect(deliveries.length).toBeGreaterThan(1);
  for (const { headers, body } of deliveries) expect(wrongIn(headers, body)).toEqual([]);
  for (const { stop } of [media, receiver]) stop();
});

type Example = { content?: { 'application/json'?: { example?: { message: string } } } };

/** The message in the example of a success. */
const messageOf = ({ responses }: Operation): string | undefined =>
  (responses[200] as Example).content?.['application/json']?.example?.message; // as OpenAPI has it

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
