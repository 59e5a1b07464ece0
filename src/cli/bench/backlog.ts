import { setTimeout as wait } from 'node:timers/promises';
import { startReceiver } from '../local/receiver.ts';
import { forget, newAccount, pileUp } from './account.ts';
import type { Benchmark } from './harness.ts';
import { percentile } from './table.ts';

/** An accident must arrive within this, whatever waits. */
const maxAccidentMs = 2000;

/** How long each level of an accident takes to a webhook with many events waiting, and to one without. */
export const backlog: Benchmark = {
  about: 'what a backlog delays',
  run: async ({ small, stack: start }) => {
    const { waiting, slowMs, accidents, everyMs } = small
      ? { waiting: 200, slowMs: 300, accidents: 3, everyMs: 50 }
      : { waiting: 20_000, slowMs: 2000, accidents: 100, everyMs: 100 };
    const stack = await start();
    const us = await newAccount(stack);
    const sent = new Map<string, number>();
    const times: { [path: string]: number[] } = { '/slow': [], '/quick': [] };
    const receiver = await startReceiver(stack.certificates, 0, async ({ path, body }) => {
      const { vin, notificationLevel } = body.data;
      const at = sent.get(`${vin} ${notificationLevel}`);
      if (at !== undefined) times[path]?.push(performance.now() - at);
      if (path === '/slow') await wait(slowMs);
    });
    const slow = await us.webhooks([`${receiver.url}/slow`]);
    await pileUp(stack, us, waiting, 1);
    const quick = await us.webhooks([`${receiver.url}/quick`]);
    await stack.call('/bench/wake');
    await wait(2 * slowMs);
    // Level by level: the next one of an accident would wait for the response to the one before.
    for (const level of [1, 2, 3])
      for (let i = 0; i < accidents; i++) {
        sent.set(`VIN${i} ${level}`, performance.now());
        await us.ingest([accident(i, level)]);
        await wait(everyMs);
      }
    const hasAll = (ms: number[]) => ms.length === 3 * accidents;
    for (const end = Date.now() + maxAccidentMs + 2 * slowMs; Date.now() < end; await wait(20))
      if (Object.values(times).every(hasAll)) break;
    receiver.stop();
    await forget(stack, [...slow, ...quick]);
    return [
      {
        title: `Milliseconds from sending in a level of an accident to its call, while ${waiting} events wait for a receiver that takes ${slowMs} ms; bar: p99 at most ${maxAccidentMs}`,
        rows: Object.entries(times).map(([webhook, ms]) => {
          const [p50, p99] = [percentile(ms, 0.5), percentile(ms, 0.99)];
          const met = hasAll(ms) && p99 <= maxAccidentMs;
          return { webhook, levels: ms.length, p50: p50.toFixed(0), p99: p99.toFixed(0), met };
        }),
      },
    ];
  },
};

const accident = (i: number, notificationLevel: number) => ({
  kind: 'accident',
  sourceId: `a${i}`,
  vin: `VIN${i}`,
  eventTime: '2026-11-20T20:00:00Z',
  location: { latitude: 39.7, longitude: -104.9 },
  notificationLevel,
});
