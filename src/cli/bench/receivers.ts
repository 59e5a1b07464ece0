import { setTimeout as wait } from 'node:timers/promises';
import { type BenchAccount, deliveryBody, forget, newAccount, pileUp, type Used } from './account.ts';
import { arrivalsPerSecond, startCounter } from './counter.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { yesOrNo } from './table.ts';

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
    for (const one of small ? smallCases : cases) rows.push(await measure(stack, us, one));
    const head = ['webhooks', 'takes', 'bare/s', 'deliveries/s', 'ratio', 'required'];
    head.push('rows', 'queue', 'repeats', 'most in flight', 'met');
    const title =
      'Deliveries to receivers that wait before they respond; rows written by the consumer and queue operations for each';
    return [{ title, head, rows }];
  },
};

async function measure(stack: BenchStack, us: BenchAccount, { webhooks, ms, deliveries, required }: Case) {
  const receiver = await startCounter(stack, ms);
  const urls = Array.from({ length: webhooks }, (_, i) => `${receiver.url}/${i}`);
  const sent = { urls, body: deliveryBody, count: deliveries };
  const bare = await arrivalsPerSecond(receiver, deliveries, () => stack.call('/bare/send?slow', sent));
  const ids = await us.webhooks(urls);
  const perSecond = await arrivalsPerSecond(
    receiver,
    deliveries,
    () => stack.call('/bench/wake'),
    () => pileUp(stack, us, deliveries / webhooks, webhooks),
  );
  await wait(1000); // the last are still being recorded
  const { repeats, most, stop } = receiver;
  const used = await stack.call<Used>('/bench/used');
  await forget(stack, ids);
  stop();
  const written = used.written / deliveries;
  const operations = (3 * used.queued) / deliveries;
  const met = perSecond >= required && written <= maxWritten && operations <= maxQueueOperations;
  const rates = [Math.round(bare), Math.round(perSecond), (perSecond / bare).toFixed(2), required];
  const costs = [written.toFixed(2), operations.toFixed(2), repeats, most];
  return [webhooks, `${ms} ms`, ...rates, ...costs, yesOrNo(met)];
}
