import { setTimeout as wait } from 'node:timers/promises';
import { newAccount, newEvents } from './account.ts';
import { startCounter } from './counter.ts';
import type { Benchmark } from './harness.ts';

const webhooks = [1, 2, 3, 4];

/**
 * All homes share the cores of one machine here: what this shows is what they cost. What each asks of its database and
 * its queue is asserted by `test/homes/operations.test.ts`.
 */
export const homes: Benchmark = {
  about: 'ingest and deliveries with the same work in 1, 2 and 4 homes',
  run: async ({ small, stack: start }) => {
    const { counts, calls, perCall } = small
      ? { counts: [1, 2], calls: 4, perCall: 10 }
      : { counts: [1, 2, 4], calls: 16, perCall: 250 };
    const names = ['main', 'home2', 'home3', 'home4'].slice(0, counts.at(-1));
    const rows = [];
    for (const count of counts) {
      const stack = await start({ homes: names.slice(1) });
      const receiver = await startCounter(stack);
      const accounts = await Promise.all(names.slice(0, count).map((home) => newAccount(stack, home)));
      for (const { id, webhooks: register } of accounts)
        await register(webhooks.map((n) => `${receiver.url}/${id}/${n}`));
      const began = performance.now();
      const sendAll = async ({ ingest }: (typeof accounts)[number]) => {
        for (let call = 0; call < calls / count; call++) await ingest(newEvents(perCall));
      };
      await Promise.all(accounts.map(sendAll));
      const taken = performance.now();
      const due = calls * perCall * webhooks.length;
      while (receiver.got < due) await wait(20);
      const perSecond = (number: number, until: number) => Math.round((1000 * number) / (until - began));
      rows.push([count, perSecond(calls * perCall, taken), perSecond(due, receiver.lastAt), receiver.got]);
      receiver.stop();
    }
    const title = `${calls * perCall} events, spread over the homes; each for ${webhooks.length} webhooks`;
    return [{ title, head: ['homes', 'records/s', 'deliveries/s', 'deliveries'], rows }];
  },
};
