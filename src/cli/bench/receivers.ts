import { setTimeout as wait } from 'node:timers/promises';
import { type BenchAccount, deliveryBody, forget, newAccount, pileUp, type Used } from './account.ts';
import { arrivalsPerSecond, type Counter, startCounter } from './counter.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { spread } from './table.ts';

/** So many webhooks, whose receivers take so long, should get so many deliveries a second. */
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

/** The most that the consumer may write and send for a delivery. */
const maxWritten = 2.2;
const maxQueueOperations = 3.2;

export const receivers: Benchmark = {
  about: 'deliveries a second to receivers that wait before they respond',
  run: async ({ small, stack: start }) => {
    const stack = await start();
    const us = await newAccount(stack);
    const rows = [];
    for (const { webhooks, ms, deliveries, required } of small ? smallCases : cases) {
      const receiver = await startCounter(stack, ms);
      const urls = Array.from({ length: webhooks }, (_, i) => `${receiver.url}/${i}`);
      const sent = { urls, body: deliveryBody, count: deliveries };
      const bare = await arrivalsPerSecond(receiver, deliveries, () => stack.call('/bare/send?slow', sent));
      const ids = await us.webhooks(urls);
      const { perSecond, byConsumer } = await deliver(stack, us, receiver, webhooks, deliveries);
      const { repeats, most } = receiver;
      await forget(stack, ids);
      receiver.stop();
      const written = byConsumer.written / deliveries;
      const operations = (3 * byConsumer.queued) / deliveries;
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

export const curve: Benchmark = {
  about: 'cost of a delivery, with more and more webhooks',
  run: async ({ small, stack: start }) => {
    const { counts, deliveries, rounds } = small
      ? { counts: [1, 10], deliveries: 200, rounds: 0 }
      : { counts: [1, 10, 100, 1000], deliveries: 2000, rounds: 5 };
    const stack = await start();
    const us = await newAccount(stack);
    const receiver = await startCounter(stack);
    const rows = [];
    for (const webhooks of counts) {
      const ids = await us.webhooks(Array.from({ length: webhooks }, (_, i) => `${receiver.url}/${i}`));
      const measured = [];
      for (let round = 0; round <= rounds; round++)
        measured.push(await deliver(stack, us, receiver, webhooks, deliveries));
      await forget(stack, ids);
      const last = measured.at(-1);
      const each = (figure: 'read' | 'written' | 'ms', times = 1) =>
        [last?.byIngest, last?.byConsumer]
          .map((used) => ((times * (used?.[figure] ?? Number.NaN)) / deliveries).toFixed(1))
          .join(', ');
      rows.push({
        webhooks,
        'deliveries/s': spread(measured.slice(Math.min(1, rounds)).map(({ perSecond }) => perSecond)),
        'rows read, by ingest and consumer': each('read'),
        'rows written': each('written'),
        'database ms for 100': each('ms', 100),
      });
    }
    receiver.stop();
    return [{ title: `Cost of a delivery, ${deliveries} at a time, medians, by webhooks`, rows }];
  },
};

/** Has that many deliveries pile up, and then made: how many a second, and what both used. */
async function deliver(
  stack: BenchStack,
  us: BenchAccount,
  receiver: Counter,
  webhooks: number,
  deliveries: number,
): Promise<{ perSecond: number; byIngest: Used | undefined; byConsumer: Used }> {
  let byIngest: Used | undefined;
  const prepare = async () => {
    byIngest = await pileUp(stack, us, deliveries / webhooks, webhooks);
  };
  const wake = () => stack.call('/bench/wake');
  const perSecond = await arrivalsPerSecond(receiver, deliveries, wake, prepare);
  await wait(500); // the last are still being recorded
  return { perSecond, byIngest, byConsumer: await stack.call<Used>('/bench/used') };
}
