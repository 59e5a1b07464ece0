// More than 15 s: thousands of requests.
import { unlimited } from '#src/cli/local/configurations.ts';
import { checker, closed, operationsOf, readDocument } from '#test/support/node/contract.ts';
import {
  addWebhook,
  fleetJson,
  type JourneyAccount,
  journeyAccount,
  ownStack,
} from '#test/support/node/journey.ts';
import { type Made, requestsFor } from '#test/support/node/requests.ts';

/** Another seed makes other requests; the failing ones name theirs. */
const seed = Number(process.env.SEED ?? 20_261_121);
const total = Number(process.env.REQUESTS ?? (process.env.FULL_PROOF ? 20_000 : 3000));

const stack = ownStack({ change: unlimited });
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
        // One repair of a day at a time; here eight are asked for at once.
        const isBusy = operation.operationId === 'repairArchive' && reply.status === 503;
        const problems =
          reply.status >= 500 && !isBusy ? ['a 5xx'] : checks.get(document)?.(operation, reply);
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
