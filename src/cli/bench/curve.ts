import { setTimeout as wait } from 'node:timers/promises';
import { type BenchAccount, forget, newAccount, pileUp, type Used } from './account.ts';
import { arrivalsPerSecond, type Counter, startCounter } from './counter.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { spread } from './table.ts';

const columns = ['deliveries/s', 'rows read, by ingest and consumer', 'rows written', 'database ms for 100'];

export const curve: Benchmark = {
  about: 'cost of a delivery, with more and more webhooks',
  run: async ({ small, stack: start }) => {
    const { counts, ...size } = small
      ? { counts: [1, 10], deliveries: 200, rounds: 1 }
      : { counts: [1, 10, 100, 1000], deliveries: 2000, rounds: 5 };
    const stack = await start();
    const us = await newAccount(stack);
    const receiver = await startCounter(stack);
    const rows = [];
    for (const webhooks of counts) {
      const ids = await us.webhooks(Array.from({ length: webhooks }, (_, i) => `${receiver.url}/${i}`));
      rows.push([webhooks, ...(await cost(stack, us, receiver, { ...size, webhooks }))]);
      await forget(stack, ids);
    }
    receiver.stop();
    const title = `Cost of a delivery, ${size.deliveries} at a time, medians, by webhooks`;
    return [{ title, head: ['webhooks', ...columns], rows }];
  },
};

/** Measures deliveries a second, and the rows of each delivery in the last round. */
async function cost(
  stack: BenchStack,
  us: BenchAccount,
  receiver: Counter,
  { webhooks, deliveries, rounds }: { webhooks: number; deliveries: number; rounds: number },
): Promise<string[]> {
  const perSecond: number[] = [];
  let [byIngest, byConsumer]: (Used | undefined)[] = [];
  const events = Math.ceil(deliveries / webhooks);
  for (let round = -1; round < rounds; round++) {
    const prepare = async () => {
      byIngest = await pileUp(stack, us, events, webhooks);
    };
    const wake = () => stack.call('/bench/wake');
    const figure = await arrivalsPerSecond(receiver, events * webhooks, wake, prepare);
    await wait(500); // the last are still being recorded
    byConsumer = await stack.call<Used>('/bench/used');
    if (round >= 0) perSecond.push(figure);
  }
  const each = (figure: 'read' | 'written' | 'ms', times = 1) =>
    [byIngest, byConsumer]
      .map((used) => ((times * (used?.[figure] ?? Number.NaN)) / (events * webhooks)).toFixed(1))
      .join(', ');
  return [spread(perSecond), each('read'), each('written'), each('ms', 100)];
}
