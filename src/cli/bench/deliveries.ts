import { setTimeout as wait } from 'node:timers/promises';
import { type BenchAccount, deliveryBody as body, forget, newAccount, newEvents, pileUp } from './account.ts';
import { arrivalsPerSecond } from './counter.ts';
import type { Benchmark } from './harness.ts';
import { compare, comparedWithBare, median, percentile } from './table.ts';

export const deliveries: Benchmark = {
  about: 'deliveries a second, and milliseconds from ingest to the receiver',
  run: async ({ small, stack: start }) => {
    const { rounds, waiting, samples } = small
      ? { rounds: 0, waiting: 100, samples: 3 }
      : { rounds: 5, waiting: 5000, samples: 20 };
    const stack = await start();
    const us = await newAccount(stack);
    const receiver = await stack.receiver();
    const signed = await newAccount(stack);
    const urls = [1, 2, 3, 4].map((n) => `${receiver.url}/${n}`);
    const webhooks = [...(await us.webhooks(urls)), ...(await signed.webhooks(urls, { signing: true }))];

    /** Sends the account's due deliveries, from waking its webhooks to the last one's arrival. */
    const delivered = (account: BenchAccount, count: number) =>
      arrivalsPerSecond(
        receiver,
        count,
        () => stack.call('/bench/wake'),
        () => pileUp(stack, account, count / 4, 4),
      );

    const rate = (what: string) =>
      compare({ what, unit: 'deliveries/s', atLeast: 0.7 }, rounds, {
        bare: () =>
          arrivalsPerSecond(receiver, waiting, () =>
            stack.call('/bare/send', { urls: [receiver.url], body, count: waiting }),
          ),
        service: () => delivered(us, waiting),
      });
    const rates = [
      await rate(`deliveries, ${waiting} waiting`),
      await stack.quietly(() => rate('  without the local log')),
      await compare(
        { what: '  signed, beside ours without signatures', unit: 'deliveries/s', atLeast: 0.9 },
        rounds * 6, // of fewer: the two are so close that a machine's own pace would decide
        { bare: () => delivered(us, waiting / 5), service: () => delivered(signed, waiting / 5) },
      ),
    ];
    await forget(stack, webhooks);

    /** From ingest's reply to the first byte at the receiver, with nothing else to deliver. */
    const times = { bare: [] as number[], service: [] as number[] };
    const latency = async (kind: keyof typeof times, path: string, sent: () => object) => {
      const ms: number[] = [];
      while (ms.length < samples) {
        receiver.reset();
        const headers = { 'x-api-key': us.ingestKey, 'content-type': 'application/json' };
        const call = { method: 'POST', headers, body: JSON.stringify(sent()) };
        const reply = await fetch(stack.baseUrl + path, call);
        await reply.text();
        while (receiver.firstAt === undefined) await wait(1);
        ms.push(performance.timeOrigin + receiver.firstAt - Number(reply.headers.get('x-ready-at')));
        await wait(20);
      }
      times[kind].push(...ms);
      return median(ms);
    };
    const one = await us.webhooks([receiver.url]);
    const what = "from ingest's reply to the receiver, p50";
    const p50 = await compare({ what, unit: 'ms', atMost: 1.15 }, rounds, {
      bare: () => latency('bare', '/bare/notify', () => ({ url: receiver.url, body })),
      service: () => latency('service', '/ingest', () => ({ records: newEvents(1) })),
    });
    const [bare, service] = [percentile(times.bare, 0.99), percentile(times.service, 0.99)];
    const p99 = {
      ...{ '': '  the same, p99', bare: `${bare.toFixed(1)} ms`, service: `${service.toFixed(1)} ms` },
      ...{ ratio: (service / bare).toFixed(2), bar: '–', met: true },
    };
    await forget(stack, one);
    return [comparedWithBare([...rates, p50, p99])];
  },
};
