import autocannon from 'autocannon';
import { newAccount } from './account.ts';
import type { Benchmark } from './harness.ts';
import { compare, comparedWithBare } from './table.ts';

export const requests: Benchmark = {
  about: 'pages and refusals a second',
  run: async ({ small, stack: start }) => {
    const { rounds, amount } = small ? { rounds: 0, amount: 50 } : { rounds: 5, amount: 1500 };
    const stack = await start();
    const us = await newAccount(stack);
    const headers = { 'x-api-key': us.token, 'connection-id': us.connection };
    const barePath = `/bare/vehicles?connection=${us.connection}`;
    const page = async (path: string) =>
      JSON.stringify((await (await fetch(stack.baseUrl + path, { headers })).json()).data);
    if ((await page('/vehicles?limit=50')) !== (await page(barePath)))
      throw new Error('the bare Worker returns something else');

    const rate = (path: string, headers: Record<string, string>, expected: number) =>
      rateOf(stack.baseUrl + path, headers, { expected, amount });
    const vehicles = {
      bare: rate(barePath, headers, 200),
      service: rate('/vehicles?limit=50', headers, 200),
    };
    const unlimited = { ...vehicles, service: rate('/unlimited/vehicles?limit=50', headers, 200) };
    const malformed = { 'x-api-key': 'fds_nonsense' };
    const refused = {
      bare: rate('/bare/refused', malformed, 401),
      service: rate('/vehicles', malformed, 401),
    };
    const measure = (what: string, run: typeof vehicles) =>
      compare({ what, unit: 'requests/s', atLeast: 0.8 }, rounds, run);
    return [
      comparedWithBare([
        await measure('GET /vehicles?limit=50', vehicles),
        await stack.quietly(() => measure('  without the local limiter and log', unlimited)),
        await measure('a malformed token', refused),
        await stack.quietly(() => measure('  without the local log', refused)),
      ]),
    ];
  },
};

/** Requests a second of so many, sixteen at a time. @throws Error, when a reply is not the expected one */
export const rateOf =
  (
    url: string,
    headers: Record<string, string>,
    { expected, amount }: { expected: number; amount: number },
  ) =>
  async (): Promise<number> => {
    // By itself it ends at a full second.
    const result = await autocannon({ url, headers, connections: 16, amount, sampleInt: 20 });
    const others = result.requests.total - (result.statusCodeStats?.[`${expected}`]?.count ?? 0);
    if (others > 0) throw new Error(`${others} replies of ${url} were not ${expected}`);
    return (1000 * amount) / (result.finish.getTime() - result.start.getTime());
  };
