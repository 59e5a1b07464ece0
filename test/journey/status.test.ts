import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startReceiver } from '../../src/cli/local/receiver.ts';
import type { Stack } from '../../src/cli/local/stack.ts';
import { root } from '../../src/cli/project/paths.ts';
import {
  addWebhook,
  api,
  fleet,
  fleetJson,
  journeyAccount,
  stackFolder,
  until,
} from '../support/node/journey.ts';

const folder = stackFolder();
let stack: Stack;
let us: Awaited<ReturnType<typeof journeyAccount>>;
beforeAll(async () => {
  stack = await folder.start();
  us = await journeyAccount(stack);
});
afterAll(async () => {
  await stack.stop();
  folder.remove();
});

type Line = Record<string, unknown> & { kind?: string; route?: string };
type Delivery = { id: string; attempts: number; requestId: string };

/** The lines that the running service has written. */
const logged = (): Line[] =>
  readFileSync(join(dirname(stack.certificates.caFile), 'wrangler.log'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"level"'))
    .map((line) => JSON.parse(line));

it('a service at rest is healthy, to monitors and to operators', async () => {
  await stack.minute();
  const health = await fetch(`${stack.baseUrl}/health`);
  expect([health.status, await health.json()]).toEqual([
    200,
    {
      status: 200,
      message: 'Healthy',
      data: {
        database: 'ok',
        queueBacklog: expect.any(Number),
        oldestDueSeconds: null,
        sweptSecondsAgo: expect.any(Number),
        size: { bytes: expect.any(Number), share: 0, daysLeft: null },
      },
    },
  ]);
  const { code, out } = await fleet(stack, 'status');
  expect(code).toBe(0);
  expect(out).toMatch(/│ service +│ healthy/);
  expect(out).toContain('No webhook is failing.');
});

it('npm run deploy -- --check tries what it relies on, and nothing is at fault', async () => {
  const { baseUrl: FLEET_URL, operatorKey: FLEET_OPERATOR_KEY } = stack;
  const args = [join(root, 'src/cli/deploy.ts'), '--check'];
  const env = { ...process.env, FLEET_URL, FLEET_OPERATOR_KEY };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toContain(`Checked ${FLEET_URL}\n`);
  for (const what of ['schema', 'database', 'refusals', 'scheduled jobs', 'archive', 'queue', 'KV'])
    expect(stdout).toMatch(new RegExp(`│ ${what} +│ \\S+ +│ ok +│ \\d+ ms`));
  expect(stdout).toMatch(/│ background work +│ main │ ok .* goes on behind the handler/);
  expect(stdout).not.toContain('fault');
});

it('a call that fails is found by its request id, and its webhook in the status', async () => {
  const receiver = await startReceiver(stack.certificates, 0, (_, response) => response.writeHead(410).end());
  const webhookId = await addWebhook(stack, us, `${receiver.url}/secret-path`);
  await api(stack, us.ingestKey, 'POST', '/ingest', {
    records: [
      { kind: 'vehicle', sourceId: 'v1', name: 'Van 1' },
      ...['e1', 'e2'].map((sourceId) => ({
        kind: 'safetyEvent',
        sourceId,
        vehicle: 'v1',
        incidentTypes: ['Braking'],
        startedAt: '2026-11-20T20:00:00Z',
      })),
    ],
  });
  const list = () =>
    fleetJson<Delivery[]>(stack, 'delivery', 'list', '--webhook', webhookId, '--status', 'failed');
  await until('both have failed', async () => (await list()).length === 2);
  receiver.stop();

  const [ingest] = logged().filter(({ kind, route }) => kind === 'request' && route === '/ingest');
  expect(ingest).toMatchObject({
    status: 200,
    accountId: us.accountId,
    records: { accepted: 3, unchanged: 0, rejected: 0 },
  });
  const attempts = logged().filter(({ kind }) => kind === 'attempt');
  expect(attempts).toHaveLength(2);
  for (const attempt of attempts)
    expect(attempt).toMatchObject({
      requestId: ingest?.requestId,
      webhookId,
      status: 410,
    });
  const [{ id } = { id: '' }] = await list();
  expect((await fleet(stack, 'delivery', 'show', id)).out).toContain(String(ingest?.requestId));
  expect(readFileSync(join(dirname(stack.certificates.caFile), 'wrangler.log'), 'utf8')).not.toContain(
    'secret-path',
  );

  expect(await fleetJson(stack, 'status')).toMatchObject({
    problem: null,
    pending: 0,
    failing: [{ account: 'Journey', webhookId, failed: 2, failures: 2 }],
  });
  const { out } = await fleet(stack, 'status');
  expect(out).toMatch(new RegExp(`│ Journey +│ ${webhookId} +│ 2 +│ █{20} +│ 2 +│ 0 +│ 2 +│ \\S+ +│ –`));
});
