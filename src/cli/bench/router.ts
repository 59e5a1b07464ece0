import { mainCell } from '../../platform/cells.ts';
import { newAccount } from './account.ts';
import type { Benchmark } from './harness.ts';
import { rateOf } from './requests.ts';
import { compare } from './table.ts';

export const router: Benchmark = {
  about: 'a list through a router in front of two cells, beside the service without one',
  run: async ({ small, stack: start }) => {
    const { rounds, amount } = small ? { rounds: 0, amount: 50 } : { rounds: 5, amount: 1000 };
    const without = await start();
    const routed = await start({ cells: [mainCell, 'eu'] });
    const runs = { bare: await listOf(without), service: await listOf({ ...routed, cell: mainCell }) };
    const measure = (what: string) => compare({ what, unit: 'requests/s', atLeast: 0.85 }, rounds, runs);

    /** The rate of a list of an account of its own. */
    async function listOf(stack: Parameters<typeof newAccount>[0]) {
      const { token, connection } = await newAccount(stack);
      const headers = { 'x-api-key': token, 'connection-id': connection };
      return rateOf(`${stack.baseUrl}/vehicles?limit=50`, headers, { expected: 200, amount });
    }
    return [
      {
        title: 'The service (bare) and the same behind a router, alternately; medians (lowest–highest)',
        rows: [
          await measure('GET /vehicles?limit=50'),
          await without.quietly(() => routed.quietly(() => measure('  without the cells’ local log'))),
        ],
      },
    ];
  },
};
