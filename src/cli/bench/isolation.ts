import { setTimeout as wait } from 'node:timers/promises';
import { startReceiver } from '../local/receiver.ts';
import { operatorOf } from '../operate/client.ts';
import { forget, newAccount, safetyEvent, vehicle } from './account.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { percentile } from './table.ts';

type Size = { hungCounts: number[]; healthy: number; repeats: number; rounds: number; everyMs: number };

/** From the ingest call to each healthy receiver, with none, one and five that hang, before their circuits open and after. */
export const isolation: Benchmark = {
  about: 'how receivers that hang affect the delivery times of others',
  run: async ({ small, stack }) => {
    const size: Size = small
      ? { hungCounts: [0, 1], healthy: 10, repeats: 1, rounds: 5, everyMs: 200 }
      : { hungCounts: [0, 1, 5], healthy: 50, repeats: 3, rounds: 60, everyMs: 250 };
    const times = new Map<string, number[]>();
    // By turns, because how busy a machine is changes from minute to minute.
    for (const hung of Array.from({ length: size.repeats }, () => size.hungCounts).flat())
      for (const [name, ms] of await deliveryTimes(await stack(), hung, size))
        times.set(name, [...(times.get(name) ?? []), ...ms]);
    const base = percentile(times.get('none hung') ?? [], 0.99);
    const rows = [...times].map(([name, ms]) => {
      const p99 = percentile(ms, 0.99);
      return [name, ms.length, percentile(ms, 0.5), p99, (p99 / base).toFixed(2)];
    });
    const title = `Delivery to ${size.healthy} healthy receivers, one event every ${size.everyMs} ms; ms from the ingest call`;
    return [{ title, head: ['', 'deliveries', 'p50', 'p99', 'p99 / none hung'], rows }];
  },
};

async function deliveryTimes(stack: BenchStack, hung: number, { healthy, rounds, everyMs }: Size) {
  const us = await newAccount(stack);
  let arrivals: number[] = [];
  const receiver = await startReceiver(stack.certificates, 0, ({ path, body }) => {
    if (path.startsWith('/hung')) return new Promise(() => {});
    const [sentAt] = body.data.vehicleGroups as string[]; // as the vehicle's group says
    return arrivals.push(Date.now() - Number(sentAt));
  });
  const urls = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${receiver.url}/${name}/${i}`);
  const webhooks = await us.webhooks([...urls('fine', healthy), ...urls('hung', hung)], [2]);

  let events = 0;
  const event = () => {
    const name = `n${events++}`;
    return us.ingest([vehicle(name, [String(Date.now())]), safetyEvent(name)]);
  };
  const load = async () => {
    arrivals = [];
    for (let round = 0; round < rounds; round++) {
      await event();
      await wait(everyMs);
    }
    return arrivals;
  };
  await event(); // warm
  await wait(1000);
  const times = new Map<string, number[]>();
  if (hung > 0) {
    times.set(`${hung} hung, before the circuits open`, await load());
    const operator = operatorOf(stack.baseUrl, stack.operatorKey);
    const allOpen = async () =>
      (await operator.get('/accounts/:id/webhooks', { id: us.id }))
        .filter(({ url }) => url.includes('/hung'))
        .every(({ openUntil }) => openUntil);
    while (!(await allOpen())) {
      await event();
      await stack.minute();
      await wait(2000);
    }
    await wait(1000);
  }
  times.set(hung > 0 ? `${hung} hung, after the circuits open` : 'none hung', await load());
  await wait(3000);
  receiver.stop();
  await forget(stack, webhooks);
  return times;
}
