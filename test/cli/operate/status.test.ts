import { expect, it } from 'vitest';
import type { StatusReport } from '../../../src/operator/api/service.ts';
import { fakeService } from '../../support/node/fake-service.ts';
import { fleet } from '../../support/node/journey.ts';

const none = { p50: null, p95: null, p99: null };
const noLevel = { count: 0, inTime: null, firstAttempt: none, delivered: none };
const firstAttempt = { p50: 0.21, p95: 4.2, p99: 90 };
const accidents = { count: 40, inTime: 0.975, firstAttempt, delivered: { ...none, p50: 7200 } };
const key = { encrypts: 0, known: true, newest: false };
const since = '2026-11-20T19:42:00.000Z';
const acme = { accountId: 'a', account: 'Acme Insurance' };
const report: StatusReport = {
  problem: null,
  warning: null,
  health: { database: 'ok', queueBacklog: 0, oldestDueSeconds: null, sweptSecondsAgo: 5, size: null },
  pending: 0,
  due: 0,
  later: 0,
  oldestPendingAt: null,
  serviceLevels: {
    day: { accidents, events: noLevel },
    month: { accidents: noLevel, events: noLevel },
  },
  accidents: [
    {
      ...acme,
      ...{ deliveryId: 'd-1', webhookId: 'w-1', level: 2, createdAt: since },
      ...{ attempts: 3, nextAttemptAt: since },
    },
  ],
  failing: [
    {
      ...acme,
      ...{ webhookId: 'w-1', failed: 0, failures: 6, openUntil: null, failedAttempts: 14, retrying: 9 },
      ...{ lastFailure: { kind: 'status', status: 503 }, nextAttemptAt: since },
    },
  ],
  paused: [{ ...acme, webhookId: 'w-2', pausedSince: since }],
  connections: [],
  deletions: [],
  uncovered: [{ ...acme, connectionId: 'c-1', name: 'Vans' }],
  headerKeys: [
    { ...key, key: 'k4', newest: true },
    { ...key, key: 'k3' },
    { ...key, key: 'k2', encrypts: 7 },
    { ...key, key: 'k1', encrypts: 2, known: false },
  ],
};

const service = await fakeService(() => ({ data: report }));

it('fleet status shows what fails, how long deliveries took, and how far the rotation of keys has come', async () => {
  const { out } = await fleet(service, 'status');
  for (const row of [
    /service +│ healthy /,
    /queue backlog +│ 0 /,
    /fails now +│ accidents that wait: 1, webhooks: 1 /,
    // Never means that some were not delivered.
    /│ accidents, 24 h +│ 40 +│ 97.5 % +│ 0.21 s \/ 4.2 s \/ 1.5 min +│ 2 h \/ never \/ never +│/,
    /│ Acme Insurance │ d-1 +│ w-1 +│ 2 /,
    /whose accidents nobody is notified of\n[^v]+│ Acme Insurance │ c-1 +│ Vans /,
    /│ 14 +│ █+ │ Acme Insurance │ w-1 .*│ 9 +│ status .*│ 503 .*│ 2026-11-20T19:42/,
    /webhooks paused for over 15 minutes\n[\s\S]*│ Acme Insurance │ w-2 +│ 2026-11-20T19:42/,
    /k4 +│ 0 +│ in use /,
    /k3 +│ 0 +│ can be removed /,
    /k2 +│ 7 +│ still needed /,
    /k1 +│ 2 +│ missing: put it back /,
  ])
    expect(out).toMatch(row);
  expect(JSON.parse((await fleet(service, '--json', 'status')).out)).toEqual(report);
});
