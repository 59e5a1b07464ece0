import { expect, it } from 'vitest';
import type { StatusReport } from '../../../src/operator/api/service.ts';
import { fakeService } from '../../support/node/fake-service.ts';
import { fleet } from '../../support/node/journey.ts';

const none = { p50: null, p95: null, p99: null };
const noLevel = { count: 0, inTime: null, firstAttempt: none, delivered: none };
const noLevels = { accidents: noLevel, events: noLevel };
const quiet: StatusReport = {
  problem: null,
  warning: null,
  health: { database: 'ok', queueBacklog: 0, oldestDueSeconds: null, sweptSecondsAgo: 5, size: null },
  pending: 0,
  due: 0,
  later: 0,
  oldestPendingAt: null,
  serviceLevels: { day: noLevels, month: noLevels },
  accidents: [],
  failing: [],
  paused: [],
  connections: [],
  headerKeys: [{ key: 'k1', encrypts: 3, known: true, newest: true }],
};
const webhookId = '01a1fc72-831b-772e-98a0-8d9347089f0d';
const pausedSince = '2026-11-20T19:42:00.000Z';
let report = quiet;

const service = await fakeService(() => ({ data: report }));

const status = async (...options: string[]) => (await fleet(service, 'status', ...options)).out;

it('fleet status names the webhooks that have been paused for over 15 minutes', async () => {
  report = { ...quiet, paused: [{ webhookId, accountId: 'a', account: 'Acme Insurance', pausedSince }] };
  const printed = await status();
  expect(printed).toContain('paused for over 15 minutes, since');
  expect(printed).toMatch(new RegExp(`│ Acme Insurance │ ${webhookId} │ ${pausedSince} +│`));
  expect(JSON.parse(await status('--json'))).toEqual(report);
});

it('fleet status says how long deliveries took, and that some were never delivered', async () => {
  const firstAttempt = { p50: 0.21, p95: 4.2, p99: 90 };
  const accidents = { count: 40, inTime: 0.975, firstAttempt, delivered: { ...none, p50: 7200 } };
  report = { ...quiet, serviceLevels: { day: { accidents, events: noLevel }, month: noLevels } };
  expect(await status()).toMatch(
    /│ accidents, 24 h +│ 40 +│ 97.5 % +│ 0.21 s \/ 4.2 s \/ 1.5 min +│ 2 h \/ never \/ never +│/,
  );
});

it('fleet status names accidents that wait, and how far the rotation of keys has come', async () => {
  const key = { encrypts: 0, known: true, newest: false };
  const headerKeys = [
    { ...key, key: 'k4', newest: true },
    { ...key, key: 'k3' },
    { ...key, key: 'k2', encrypts: 7 },
    { ...key, key: 'k1', encrypts: 2, known: false },
  ];
  const waits = { accountId: 'a', account: 'Acme Insurance', deliveryId: 'd-1', webhookId, level: 2 };
  const accidents = [{ ...waits, createdAt: pausedSince, attempts: 3, nextAttemptAt: pausedSince }];
  report = { ...quiet, accidents, headerKeys };
  const printed = await status();
  for (const row of [
    /fails now +│ accidents that wait: 1 /,
    /Acme Insurance │ d-1 +│ 2 /,
    /k4 +│ 0 +│ encrypts /,
    /k3 +│ 0 +│ can be removed /,
    /k2 +│ 7 +│ still needed /,
    /k1 +│ 2 +│ missing: put it back /,
  ])
    expect(printed).toMatch(row);
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
