import { setTimeout as wait } from 'node:timers/promises';
import { deliveryBody, forget, newAccount, pileUp, type Used } from './account.ts';
import { arrivalsPerSecond } from './counter.ts';
import type { Benchmark } from './harness.ts';

/** How many deliveries a second so many webhooks, whose receivers take so long, should get. */
type Case = { webhooks: number; ms: number; deliveries: number; required: number };

const cases: Case[] = [
  { webhooks: 4, ms: 0, deliveries: 5000, required: 1053 },
  { webhooks: 1, ms: 0, deliveries: 5000, required: 842 },
  { webhooks: 1, ms: 100, deliveries: 5000, required: 300 },
  { webhooks: 1, ms: 1000, deliveries: 3000, required: 45 },
  { webhooks: 20, ms: 100, deliveries: 10_000, required: 800 },
  { webhooks: 20, ms: 1000, deliveries: 8000, required: 400 },
  { webhooks: 50, ms: 300, deliveries: 10_000, required: 600 },
];
const smallCases: Case[] = [
  { webhooks: 1, ms: 100, deliveries: 100, required: 0 },
  { webhooks: 5, ms: 300, deliveries: 100, required: 0 },
];

/** The most rows that the consumer may write, and messages it may send, per delivery. */
const maxWritten = 2.2;
const maxQueueOperations = 3.2;

export const receivers: Benchmark = {
  about: 'deliveries a second to receivers that wait before they respond',
  run: async ({ small, stack: start }) => {
    const stack = await start();
    const us = await newAccount(stack);
    const rows = [];
    for (const { webhooks, ms, deliveries, required } of small ? smallCases : cases) {
      const receiver = await stack.receiver(ms);
      const urls = Array.from({ length: webhooks }, (_, i) => `${receiver.url}/${i}`);
      const sent = { urls, body: deliveryBody, count: deliveries };
      const bare = await arrivalsPerSecond(receiver, deliveries, () => stack.call('/bare/send?slow', sent));
      const ids = await us.webhooks(urls);
      const prepare = () => pileUp(stack, us, deliveries / webhooks, webhooks);
      const wake = () => stack.call('/bench/wake');
      const perSecond = await arrivalsPerSecond(receiver, deliveries, wake, prepare);
      await wait(500); // the last are still being recorded
      const used = await stack.call<Used>('/bench/used');
      const { repeats, most } = receiver;
      await forget(stack, ids);
      const written = used.written / deliveries;
      const operations = (3 * used.queued) / deliveries;
      rows.push({
        webhooks,
        takes: `${ms} ms`,
        'bare/s': Math.round(bare),
        'deliveries/s': Math.round(perSecond),
        ratio: (perSecond / bare).toFixed(2),
        required,
        rows: written.toFixed(2),
        queue: operations.toFixed(2),
        repeats,
        'most in flight': most,
        met: perSecond >= required && written <= maxWritten && operations <= maxQueueOperations,
      });
    }
    const title =
      'Deliveries to receivers that wait before they respond; rows written by the consumer and queue operations for each';
    return [{ title, rows }];
  },
};
