import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import { mainCell } from '../../platform/cells.ts';
import { forget, newAccount, newEvents } from './account.ts';
import { type Benchmark, compare, comparedWithBare } from './harness.ts';

const sizes = { rounds: 5, amount: 600 };
const smallest = { rounds: 0, amount: 50 };
const list = '/vehicles?limit=50';

export const requests: Benchmark = {
  about: 'pages and refusals a second',
  run: async ({ small, stack: start }) => {
    const { rounds, amount } = small ? smallest : sizes;
    const stack = await start();
    const { headers, connection } = await newAccount(stack);
    const bareList = `/bare/vehicles?connection=${connection}`;
    const page = async (path: string) =>
      JSON.stringify((await (await fetch(stack.baseUrl + path, { headers })).json()).data);
    if ((await page(list)) !== (await page(bareList)))
      throw new Error('the bare Worker returns something else');

    const listed = (path: string) => rateOf(stack.baseUrl + path, headers, amount);
    const refused = (path: string) =>
      rateOf(stack.baseUrl + path, { 'x-api-key': 'fds_nonsense' }, amount, 401);
    type Rate = () => Promise<number>;
    const measure = (what: string, bare: Rate, service: Rate, atLeast = 0.8) =>
      compare({ what, unit: 'requests/s', atLeast }, rounds, { bare, service });
    const noLimit = '  without the local limiter and log';
    const noLog = '  without the local log';
    return [
      comparedWithBare([
        await measure(`GET ${list}`, listed(bareList), listed(list)),
        await stack.quietly(() => measure(noLimit, listed(bareList), listed(list), 0.85)),
        await measure('a malformed token', refused('/bare/refused'), refused('/vehicles')),
        await stack.quietly(() => measure(noLog, refused('/bare/refused'), refused('/vehicles'))),
      ]),
    ];
  },
};

export const router: Benchmark = {
  about: 'a list through a router in front of two cells, beside the service without one',
  run: async ({ small, stack: start }) => {
    const { rounds, amount } = small ? smallest : sizes;
    const without = await start();
    const routed = await start({ cells: [mainCell, 'eu'] });
    const listOf = async (stack: Parameters<typeof newAccount>[0]) =>
      rateOf(stack.baseUrl + list, (await newAccount(stack)).headers, amount);
    const runs = { bare: await listOf(without), service: await listOf({ ...routed, cell: mainCell }) };
    const measure = (what: string) => compare({ what, unit: 'requests/s', atLeast: 0.85 }, rounds, runs);
    const noLogs = () => measure('  without the cells’ local log');
    return [
      {
        title: 'The service (bare) and the same behind a router, alternately; medians (quartiles)',
        rows: [await measure(`GET ${list}`), await without.quietly(() => routed.quietly(noLogs))],
      },
    ];
  },
};

/** Requests a second of so many, sixteen at a time. @throws Error, for an unexpected reply */
const rateOf =
  (url: string, headers: Record<string, string>, amount: number, expected = 200) =>
  async (): Promise<number> => {
    // By itself it ends at a full second.
    const result = await autocannon({ url, headers, connections: 16, amount, sampleInt: 20 });
    const others = result.requests.total - (result.statusCodeStats?.[`${expected}`]?.count ?? 0);
    if (others > 0) throw new Error(`${others} replies of ${url} were not ${expected}`);
    return (1000 * amount) / (result.finish.getTime() - result.start.getTime());
  };

const perCall = 500;

export const ingest: Benchmark = {
  about: 'records a second, in calls of 500 safety events for four webhooks',
  run: async ({ small, stack: start }) => {
    const { rounds, calls } = small ? { rounds: 0, calls: 1 } : { rounds: 5, calls: 6 };
    const stack = await start();
    const us = await newAccount(stack);
    await us.ingest(newEvents(1));
    const row = Object.entries(await stack.call('/bench/sample'));
    const sample = Object.fromEntries(row.filter(([, value]) => value !== null));
    const { url } = await stack.receiver();
    const webhooks = await us.webhooks([1, 2, 3, 4].map((n) => `${url}/${n}`));
    /** The rows that the service would write: events, and deliveries of each to each webhook. */
    const bareRows = () => {
      const ids = Array.from({ length: perCall }, () => randomUUID());
      const delivery = { account_id: us.id, level: 0, status: 'pending', next_attempt_at: 9e15 };
      return {
        safety_events: ids.map((id) => ({ ...sample, id, source_id: randomUUID() })),
        deliveries: webhooks.flatMap((webhook_id) =>
          ids.map((event_id) => ({ ...delivery, webhook_id, event_id, id: randomUUID() })),
        ),
      };
    };
    const recordsPerSecond = async (path: string, body: () => object) => {
      const bodies = Array.from({ length: calls }, () => JSON.stringify(body())); // built before the clock starts
      const began = performance.now();
      for (const body of bodies) await us.post(path, body, us.ingestKey);
      return (calls * perCall) / ((performance.now() - began) / 1000);
    };
    await stack.call('/bench/hold?on');
    const what = `ingest of ${perCall} events for 4 webhooks`;
    const compared = await compare({ what, unit: 'records/s', atLeast: 0.6 }, rounds, {
      bare: () => recordsPerSecond('/bare/ingest', bareRows),
      service: () => recordsPerSecond('/ingest', () => ({ records: newEvents(perCall) })),
    });
    await forget(stack, webhooks);
    return [comparedWithBare([compared])];
  },
};
