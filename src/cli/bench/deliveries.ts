import { setTimeout as wait } from 'node:timers/promises';
import { type BenchAccount, deliveryBody as body, forget, newAccount, newEvents, pileUp } from './account.ts';
import { arrivalsPerSecond, type Counter } from './counter.ts';
import {
  type Benchmark,
  type BenchStack,
  compare,
  comparedWithBare,
  median,
  percentile,
  type TableRow,
} from './harness.ts';

/** Sends the account's due deliveries, from waking its webhooks to the last one's arrival. */
const delivered = (stack: BenchStack, receiver: Counter, us: BenchAccount, count: number, webhooks: number) =>
  arrivalsPerSecond(
    receiver,
    count,
    () => stack.call('/bench/wake'),
    () => pileUp(stack, us, count / webhooks, webhooks),
  );

const unit = 'deliveries/s';

export const deliveries: Benchmark = {
  about: 'deliveries a second, and milliseconds from ingest to the receiver',
  run: async ({ small, stack: start }) => {
    const { rounds, count, samples } = small
      ? { rounds: 0, count: 100, samples: 3 }
      : { rounds: 5, count: 5000, samples: 20 };
    const stack = await start();
    const [us, signed] = [await newAccount(stack), await newAccount(stack)];
    const receiver = await stack.receiver();
    const urls = [1, 2, 3, 4].map((n) => `${receiver.url}/${n}`);
    const webhooks = [...(await us.webhooks(urls)), ...(await signed.webhooks(urls, { signing: true }))];
    const ofUs = () => delivered(stack, receiver, us, count, 4);
    const bare = () => stack.call('/bare/send', { urls: [receiver.url], body, count });
    const rate = (what: string) =>
      compare({ what, unit, atLeast: 0.7 }, rounds, {
        bare: () => arrivalsPerSecond(receiver, count, bare),
        service: ofUs,
      });
    const rates = [
      await rate(`deliveries, ${count} waiting`),
      await stack.quietly(() => rate('  without the local log')),
      await compare(
        { what: '  signed, beside ours without signatures', unit, atLeast: 0.9 },
        rounds * 6, // of fewer: the two are so close that a machine's own pace would decide
        {
          bare: () => delivered(stack, receiver, us, count / 5, 4),
          service: () => delivered(stack, receiver, signed, count / 5, 4),
        },
      ),
    ];
    await forget(stack, webhooks);

    /** From ingest's reply to the first byte at the receiver, with nothing else to deliver. */
    const times = { bare: [] as number[], service: [] as number[] };
    const latency = (kind: keyof typeof times, path: string, sent: () => object) => async () => {
      const ms: number[] = [];
      while (ms.length < samples) {
        receiver.reset();
        const { headers } = await us.post(path, JSON.stringify(sent()), us.ingestKey);
        while (receiver.firstAt === undefined) await wait(1);
        ms.push(performance.timeOrigin + receiver.firstAt - Number(headers.get('x-ready-at')));
        await wait(20);
      }
      times[kind].push(...ms);
      return median(ms);
    };
    const one = await us.webhooks([receiver.url]);
    const what = "from ingest's reply to the receiver, p50";
    const p50 = await compare({ what, unit: 'ms', atMost: 1.15 }, rounds, {
      bare: latency('bare', '/bare/notify', () => ({ url: receiver.url, body })),
      service: latency('service', '/ingest', () => ({ records: newEvents(1) })),
    });
    await forget(stack, one);
    const [before, service] = [percentile(times.bare, 0.99), percentile(times.service, 0.99)];
    const p99 = {
      ...{ '': '  the same, p99', bare: `${before.toFixed(1)} ms`, service: `${service.toFixed(1)} ms` },
      ...{ ratio: (service / before).toFixed(2), bar: '–', met: true },
    };
    return [comparedWithBare([...rates, p50, p99])];
  },
};

type Case = [webhooks: number, ms: number, count: number, atLeast: number];

const cases: Case[] = [
  [4, 0, 5000, 0.7],
  [1, 0, 5000, 0.5],
  [1, 100, 5000, 0.7],
  [1, 1000, 3000, 0.9],
  [20, 100, 10_000, 0.6],
  [20, 1000, 8000, 0.6],
  [50, 300, 10_000, 0.4],
];
const smallCases: Case[] = [
  [1, 100, 100, 0],
  [5, 300, 100, 0],
];

export const receivers: Benchmark = {
  about: 'deliveries a second to receivers that wait before they respond',
  run: async ({ small, stack: start }) => {
    const stack = await start();
    const us = await newAccount(stack);
    const rows: TableRow[] = [];
    for (const [webhooks, ms, count, atLeast] of small ? smallCases : cases) {
      const receiver = await stack.receiver(ms);
      const urls = Array.from({ length: webhooks }, (_, i) => `${receiver.url}/${i}`);
      const bare = () => stack.call('/bare/send?slow', { urls, body, count });
      let ids: string[] = [];
      const row = await compare({ what: `${webhooks} that take ${ms} ms`, unit, atLeast }, 0, {
        bare: () => arrivalsPerSecond(receiver, count, bare),
        service: async () => {
          ids = await us.webhooks(urls);
          return delivered(stack, receiver, us, count, webhooks);
        },
      });
      rows.push({ ...row, repeats: receiver.got - receiver.seen.size, 'most in flight': receiver.most });
      await forget(stack, ids);
    }
    return [
      { title: 'Receivers that wait before they respond, and the bare consumer with as many calls', rows },
    ];
  },
};
