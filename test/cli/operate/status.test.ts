import type { StatusReport } from '#src/operator/api/service.ts';
import { fakeService } from '#test/support/node/index.ts';

const key = { encrypts: 0, known: true, newest: false };
const since = '2026-11-20T19:42:00.000Z';
const url = `https://claims.example.com/${'long/'.repeat(30)}`;
const id = '01a221b9-5de4-74cd-9e8e-2a7c8706e87e';
const acme = { accountId: 'a', account: 'Acme Insurance' };
const failing = { failed: 0, failures: 6, openUntil: null, failedAttempts: 14, retrying: 9 };
const report: StatusReport = {
  problem: null,
  warning: null,
  pending: 0,
  due: 0,
  later: 0,
  oldestPendingAt: null,
  health: {
    database: 'ok',
    queueBacklog: 0,
    oldestDueSeconds: null,
    sweptSecondsAgo: 5,
    size: null,
  },
  accidentsInTime: { hour: { count: 0, inTime: null }, day: { count: 40, inTime: 0.975 } },
  accidents: [
    {
      ...acme,
      deliveryId: 'd-1',
      webhookId: 'w-1',
      url,
      level: 2,
      createdAt: since,
      attempts: 3,
      nextAttemptAt: since,
    },
  ],
  failing: [
    {
      ...acme,
      ...failing,
      webhookId: id,
      url,
      nextAttemptAt: since,
      lastFailure: { kind: 'status', status: 503 },
    },
  ],
  paused: [{ ...acme, webhookId: 'w-2', url, pausedSince: since }],
  connections: [
    { ...acme, connectionId: 'c-2', name: 'Trucks', healthStatus: 3, lastPulledAt: null },
  ],
  deletions: [{ ...acme, id, problem: `${'trips/'.repeat(20)} cannot be read` }],
  moves: [{ ...acme, to: 'eu', state: 'copying', since, isOverdue: true }],
  uncovered: [{ ...acme, connectionId: 'c-1', name: 'Vans' }],
  encryptionKeys: [
    { ...key, key: 'k4', newest: true },
    { ...key, key: 'k3' },
    { ...key, key: 'k2', encrypts: 7 },
    { ...key, key: 'k1', encrypts: 2, known: false },
  ],
};

const { fleet } = await fakeService(() => ({ data: report }));

it('fleet status shows what fails, the accidents in time, and the keys', async () => {
  const { out } = await fleet('status');
  for (const row of [
    /^service +healthy$/m,
    /^queue backlog +0$/m,
    /^fails now +accidents that wait: 1, webhooks: 1, connections: 1, deletions: 1, moves: 1$/m,
    /^this hour +0 +–$/m,
    /^24 h +40 +97.5%$/m,
    /^d-1 +2 +Acme Insurance +claims.example.com +2026-11-20 19:42:00Z$/m,
    /whose accidents nobody is notified of\n.*\nAcme Insurance +c-1 +Vans$/m,
    new RegExp(`^${id} +claims.example.com +Acme Insurance +HTTP 503 +14, 6 in a row$`, 'm'),
    /webhooks paused for over 15 minutes\n.*\nAcme Insurance +w-2 +2026-11-20 19:42:00Z +claims.example.com$/m,
    /^Acme Insurance +c-2 +Trucks +unavailable$/m,
    /^a +Acme Insurance +eu +copying +2026-11-20 19:42:00Z$/m,
    /^k4 +0 +in use$/m,
    /^k3 +0 +can be removed$/m,
    /^k2 +7 +still needed$/m,
    /^k1 +2 +missing: put it back$/m,
  ])
    expect(out).toMatch(row);
  expect(JSON.parse((await fleet('--json status')).out)).toEqual(report);
});
