import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StatusReport } from '../../../src/operator/api/service.ts';
import { fleet } from '../../support/node/journey.ts';

const quiet: StatusReport = {
  problem: null,
  warning: null,
  health: { database: 'ok', queueBacklog: 0, oldestDueSeconds: null, sweptSecondsAgo: 5, size: null },
  pending: 0,
  due: 0,
  later: 0,
  oldestPendingAt: null,
  failing: [],
  paused: [],
  connections: [],
};
const webhookId = '01a1fc72-831b-772e-98a0-8d9347089f0d';
const pausedSince = '2026-11-20T19:42:00.000Z';
let report = quiet;

/** A service whose status is as a test says. */
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ status: 200, message: 'Status', data: report }));
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

async function status(...options: string[]): Promise<string> {
  const { port } = server.address() as AddressInfo; // it listens on a port
  const service = { baseUrl: `http://127.0.0.1:${port}`, operatorKey: 'key' };
  return (await fleet(service, 'status', ...options)).out;
}

it('fleet status names the webhooks that have been paused for over 15 minutes', async () => {
  report = { ...quiet, paused: [{ webhookId, accountId: 'a', account: 'Acme Insurance', pausedSince }] };
  const printed = await status();
  expect(printed).toContain('paused for over 15 minutes, since');
  expect(printed).toMatch(new RegExp(`│ Acme Insurance │ ${webhookId} │ ${pausedSince} +│`));
  expect(JSON.parse(await status('--json'))).toEqual(report);
});

it('fleet status says no more while none is', async () => {
  report = quiet;
  expect((await status()).trimEnd()).toMatch(/No webhook is failing\.$/);
});

it('fleet status shows attempts that fail though nothing has been given up, why, and when the next one is', async () => {
  const failing = {
    webhookId,
    accountId: 'a',
    account: 'Acme Insurance',
    failed: 0,
    failures: 6,
    openUntil: null,
    failedAttempts: 14,
    retrying: 9,
    lastFailure: { kind: 'status', status: 503 },
    nextAttemptAt: pausedSince,
  };
  report = { ...quiet, failing: [failing] };
  const printed = await status();
  const heads = [
    'failed attempts in 24 h',
    '',
    'given up',
    'retrying',
    'in a row',
    'last error',
    'next attempt',
  ];
  expect(printed).toMatch(new RegExp(heads.join(' *│ *')));
  const cells = [webhookId, '14', '█+', '0', '9', '6', '503', pausedSince];
  expect(printed).toMatch(new RegExp(cells.join(' *│ *')));
});
