// @module-tag proof
// More than 15 s: thousands of requests.
import { unlimited } from '#src/cli/local/configurations.ts';
import { checker, closed, operationsOf, readDocument } from '#test/support/node/contract.ts';
import {
  type JourneyAccount,
  journeyAccount,
  operatorOf,
  ownStack,
} from '#test/support/node/index.ts';
import { requestsFor } from '#test/support/node/requests.ts';

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
  const webhook = await us.register('https://receiver.example.com/', {
    notificationTypes: [1],
  });
  const addUser = (email: string) =>
    operatorOf(stack).call('POST /accounts/:id/users', { id: other.accountId, body: { email } });
  const [, bob] = await Promise.all(['ann@example.com', 'bob@example.com'].map(addUser));
  const wrong: unknown[] = [];
  const statuses = new Map<string, Set<number>>();
  const credentials: Record<string, object> = {
    ApiToken: { 'x-api-key': us.token },
    IngestKey: { 'x-api-key': us.ingestKey },
    OperatorKey: { authorization: `Bearer ${stack.operatorKey}` },
  };
  const operations = [clients, operators].flatMap((document) => {
    const check = checker(document, stack.baseUrl);
    return operationsOf(document).map((one) => ({ ...one, check }));
  });
  const count = Math.ceil(total / operations.length);
  for (const one of operations) {
    const { check, template, operation } = one;
    const list = /^\/operator\/(\w+)/.exec(template)?.[1] ?? '';
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
      id: { accounts: other.accountId, connections: other.connectionId }[list] ?? webhook,
    };
    const requests = requestsFor(one, known, { seed, count });
    const seen = new Set<number>();
    statuses.set(operation.operationId, seen);
    const left = requests.values();
    const credential = credentials[Object.keys(operation.security[0] ?? {})[0] ?? ''] ?? {};
    const worker = async () => {
      for (const request of left) {
        const reply = await check(operation, request, credential);
        seen.add(reply.status);
        // One repair of a day at a time; here eight are asked for at once.
        const isBusy = operation.operationId === 'repairArchive' && reply.status === 503;
        if (reply.problems.length > 0 || (reply.status >= 500 && !isBusy))
          wrong.push({ seed, request, reply });
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  // Nothing that is made up leads to the others: what they are about has to be made first, or named to be deleted.
  const right = [...statuses].filter(([, seen]) => seen.has(200));
  expect(right.length).toBeGreaterThan(operations.length / 2);
});
