import { setTimeout as wait } from 'node:timers/promises';
import { newAccount, newEvents } from './account.ts';
import {
  arrivalsPerSecond,
  type Benchmark,
  compare,
  file,
  median,
  requestsPerSecond,
} from './harness.ts';

/** Pages of a list a second, beside a file that the runtime serves without the Worker. */
export const lists: Benchmark = async function* ({ small, stack: start }) {
  const stack = await start();
  const { headers } = await newAccount(stack);
  const [rounds, amount] = small ? [0, 50] : [5, 600];
  const [what, unit, bar] = ['GET /vehicles?limit=50', '/s', '–'];
  yield await compare(
    { what, unit, bar, rounds },
    () => requestsPerSecond(stack.baseUrl + file, {}, amount),
    () => requestsPerSecond(`${stack.baseUrl}/vehicles?limit=50`, headers, amount),
  );
};

/** Records a second, in calls of 500 safety events for four webhooks that are paused. */
export const ingest: Benchmark = async function* ({ small, stack: start }) {
  const stack = await start();
  const us = await newAccount(stack);
  const webhooks = await us.webhooks([1, 2, 3, 4].map((n) => `https://receiver.example.com/${n}`));
  await us.pileUp(webhooks, 1);
  const rates: number[] = [];
  while (rates.length < (small ? 1 : 20)) {
    const began = performance.now();
    await us.ingest(newEvents(500));
    rates.push(500_000 / (performance.now() - began));
  }
  await us.forget(webhooks);
  const figure = median(rates).toFixed(0);
  const what = 'ingest of 500 events for 4 webhooks';
  yield { what, reference: '–', service: `${figure} records/s`, figure, bar: '–' };
};

type Case = [webhooks: number, ms: number, count: number, atLeast: number];

/** Deliveries a second to receivers that wait before they respond, beside a bare consumer with as many calls. */
const deliveriesTo = (cases: Case[], smallCase: Case): Benchmark =>
  async function* ({ small, stack: start }) {
    const stack = await start();
    const us = await newAccount(stack);
    for (const [webhooks, ms, count, atLeast] of small ? [smallCase] : cases) {
      const receiver = await stack.receiver(ms);
      const urls = Array.from({ length: webhooks }, (_, i) => `${receiver.url}/${i}`);
      const what = `deliveries to ${webhooks} that take ${ms} ms`;
      let ids: string[] = [];
      yield await compare(
        { what, unit: '/s', bar: `≥ ${atLeast}` },
        () => arrivalsPerSecond(receiver, count, () => us.call('/bare', { urls, body, count })),
        async () => {
          ids = await us.webhooks(urls);
          return arrivalsPerSecond(receiver, count, await us.pileUp(ids, count / webhooks));
        },
      );
      if (receiver.got > receiver.seen.size) throw new Error(`${what}: some came twice`);
      await us.forget(ids);
    }
  };

export const deliveries = deliveriesTo(
  [
    [1, 0, 5000, 0.5],
    [4, 0, 5000, 0.7],
  ],
  [4, 0, 100, 0],
);

export const receivers = deliveriesTo(
  [
    [1, 100, 5000, 0.7],
    [1, 1000, 3000, 0.9],
    [20, 100, 10_000, 0.6],
    [20, 1000, 8000, 0.6],
    [50, 300, 10_000, 0.4],
  ],
  [5, 300, 100, 0],
);

/** From ingest's reply to the first byte at the receiver, with nothing else to deliver. */
export const firstByte: Benchmark = async function* ({ small, stack: start }) {
  const stack = await start();
  const us = await newAccount(stack);
  const receiver = await stack.receiver();
  const latency = (path: string, sent: () => object) => async () => {
    const times: number[] = [];
    while (times.length < (small ? 3 : 20)) {
      receiver.reset();
      const { readyAt } = await us.call(path, sent());
      while (receiver.firstAt === 0) await wait(1);
      times.push(performance.timeOrigin + receiver.firstAt - readyAt);
      await wait(20);
    }
    return median(times);
  };
  const ids = await us.webhooks([receiver.url]);
  const what = "from ingest's reply to the receiver, p50";
  yield await compare(
    { what, unit: 'ms', bar: '≤ 1.45', rounds: small ? 0 : 5 },
    latency('/bare', () => ({ urls: [receiver.url], body, count: 1 })),
    latency('/ingest', () => ({ records: newEvents(1) })),
  );
  await us.forget(ids);
};

/** A body about as large as that of a delivery of such an event. */
const body = JSON.stringify({ type: 2, data: { ...newEvents(1)[0], more: 'x'.repeat(250) } });
