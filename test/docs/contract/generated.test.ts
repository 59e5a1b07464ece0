import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stack } from '../../../src/cli/local/stack.ts';
import { checker, closed, readDocument } from '../../support/node/contract.ts';
import { addWebhook, fleetJson, journeyAccount, stackFolder } from '../../support/node/journey.ts';
import { type Made, requestsFor } from '../../support/node/requests.ts';

/** Another seed makes other requests; the failing ones name theirs. */
const seed = Number(process.env.SEED ?? 20_261_121);
const total = Number(process.env.REQUESTS ?? (process.env.FULL_PROOF ? 5000 : 1000));

const folder = stackFolder((toml) => toml.replaceAll(/limit = \d+, period/g, 'limit = 100000, period'));
let stack: Stack;
let us: Awaited<ReturnType<typeof journeyAccount>>;
/** An account that operators may be cruel to. */
let other: Awaited<ReturnType<typeof journeyAccount>>;
beforeAll(async () => {
  stack = await folder.start();
  await stack.minute(); // the schema may be older than the time in which the first sweep must run
  us = await journeyAccount(stack);
  other = await journeyAccount(stack);
});
afterAll(async () => {
  await stack.stop();
  folder.remove();
});

const documents = [readDocument('openapi.json'), readDocument('openapi.operator.json')].map(closed);
const isDeletion = ({ method }: { method: string }) => Number(method === 'delete');

/** What others need is deleted last. */
const operations = documents
  .flatMap((document) => {
    const check = checker(document);
    return Object.entries(document.paths).flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        document,
        check,
        template,
        method,
        operation,
      })),
    );
  })
  .toSorted((a, b) => isDeletion(a) - isDeletion(b));

it(`${total} made-up requests get replies that the documents allow, and never a 5xx`, async () => {
  const url = 'https://receiver.example.com/';
  const webhook = await addWebhook(stack, us, url, { notificationTypes: [1] });
  const [, bob] = await Promise.all(
    ['ann', 'bob'].map((name) =>
      fleetJson<{ id: string }>(stack, 'user', 'add', `${name}@example.com`, '--account', other.accountId),
    ),
  );
  const wrong: unknown[] = [];
  const statuses = new Map<string, Set<number>>();
  const count = Math.ceil(total / operations.length);
  for (const { document, check, template, method, operation } of operations) {
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
    await eachAtOnce(8, requests, async (request) => {
      const reply = await send(request, operation.security[0] ?? {});
      seen.add(reply.status);
      const problems = reply.status >= 500 ? ['a 5xx'] : check(operation, reply);
      if (problems.length > 0) wrong.push({ seed, request, reply, problems });
    });
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  // Nothing that is made up leads to the others: what they are about has to be made first, or named to be deleted.
  const right = [...statuses].filter(([, seen]) => seen.has(200));
  expect(right.length).toBeGreaterThan(operations.length / 2);
});

it('GET /webhooks is 400 for a request that is not valid HTTP, as the document says', async () => {
  const { hostname, port } = new URL(stack.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /webhooks HTTP/1.1\r\nHost: ${hostname}\r\nx-api-key: ${us.token}\r\nno header\r\n\r\n`);
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 400 /);
});

const idFor = (template: string, webhook: string) => {
  if (template.startsWith('/operator/accounts')) return other.accountId;
  if (template.startsWith('/operator/connections')) return other.connectionId;
  if (template.startsWith('/operator/tokens')) return other.tokenId;
  return webhook;
};

async function send({ path, ...request }: Made, security: object) {
  const credentials: Record<string, Record<string, string>> = {
    ApiToken: { 'x-api-key': us.token },
    IngestKey: { 'x-api-key': us.ingestKey },
    OperatorKey: { authorization: `Bearer ${stack.operatorKey}` },
  };
  // Making requests can take so long that the service ends a connection that was kept, unseen.
  const headers = { ...request.headers, ...credentials[Object.keys(security)[0] ?? ''], connection: 'close' };
  const reply = await fetch(stack.baseUrl + path, { ...request, headers });
  const text = await reply.text();
  return { status: reply.status, headers: Object.fromEntries(reply.headers), text };
}

async function eachAtOnce<T>(atOnce: number, items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
