import { operatorOf } from '../operate/client.ts';
import { type BenchAccount, newAccount } from './account.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { median, percentile, yesOrNo } from './table.ts';

/** Round trips between regions, in milliseconds. */
const sameRegion = 2;
const frankfurtToVirginia = 89;
const frankfurtToSydney = 324;

/** What a token that a location has not seen yet costs at KV there: its p95. */
const coldKv = 50;

/** Where a client is, with a Worker beside it, where the database is, and how far that is. */
const routes = [
  { client: 'Frankfurt', database: 'Frankfurt', ms: sameRegion },
  { client: 'Frankfurt', database: 'Sydney', ms: frankfurtToSydney },
  { client: 'Virginia', database: 'Virginia', ms: sameRegion },
  { client: 'Virginia', database: 'Frankfurt', ms: frankfurtToVirginia },
  { client: 'Sydney', database: 'Sydney', ms: sameRegion },
  { client: 'Sydney', database: 'Frankfurt', ms: frankfurtToSydney },
];
type Scene = (typeof routes)[number] & { replicas: boolean };

const pageSize = 50;

/** A page of a database in another region takes at most so many times what it takes at home, where there are replicas. */
const maxRatio = 1.3;

export const distance: Benchmark = {
  about: 'pages and first calls over simulated distances, with and without replicas',
  run: async ({ small, stack: start }) => {
    const { pages, firstCalls, rounds } = small
      ? { pages: 5, firstCalls: 2, rounds: 1 }
      : { pages: 100, firstCalls: 25, rounds: 2 };
    const stack = await start();
    const us = await newAccount(stack);
    await stack.fill(
      pages * pageSize,
      `insert into vehicles (id, account_id, connection_id, source_id, name, groups, status, created_at, updated_at)
       select printf('%08x-0005-5000-8000-%012x', ((i + 1000) * 2654435761) & 4294967295, i), account_id, connection_id,
         'filled-' || i, 'Truck ' || i, groups, status, created_at + i, updated_at
       from n cross join (select * from vehicles where connection_id = ?3 limit 1)`,
      us.connection,
    );
    const scenes = routes
      .filter(({ client }) => !small || client === 'Sydney')
      .flatMap((route) => [false, true].map((replicas) => ({ ...route, replicas })));
    const times = scenes.map((scene) => ({ scene, page: [] as number[], first: [] as number[] }));
    for (let round = -1; round < rounds; round++)
      for (const { scene, page, first } of times) {
        const read = await withNewToken(stack, us, scene, round < 0 ? 2 : pages);
        if (round < 0) continue; // to warm up
        page.push(...read);
        for (let i = 0; i < firstCalls; i++) first.push(...(await withNewToken(stack, us, scene, 1)));
      }
    const atHome = (client: string) =>
      times.find(({ scene: s }) => s.client === client && s.database === client && !s.replicas)?.page ?? [];
    const rows = times.map(({ scene: { client, database, replicas }, page, first }) => {
      const ratio = median(page) / median(atHome(client));
      const shown = [page, first].flatMap((ms) => [median(ms).toFixed(1), percentile(ms, 0.99).toFixed(1)]);
      const judged = client === 'Sydney' && database === 'Frankfurt' && replicas;
      const met = yesOrNo(!judged || ratio <= maxRatio);
      return [client, database, replicas ? 'yes' : 'no', ...shown, ratio.toFixed(2), met];
    });
    const title = `Milliseconds of a page of ${pageSize}, and of a token's first call, for a Worker beside its client; bar: Sydney's p50 with replicas of an account in Frankfurt at most ${maxRatio} × its own region's`;
    const head = ['client', 'database', 'replicas', 'page p50', 'page p99', 'first p50', 'first p99'];
    return [{ title, head: [...head, '× local p50', 'met'], rows }];
  },
};

/** Reads pages with a token that nobody has seen yet, and revokes it. Returns how long each page took. */
async function withNewToken(stack: BenchStack, us: BenchAccount, { ms, replicas }: Scene, pages: number) {
  const operator = operatorOf(stack.baseUrl, stack.operatorKey);
  const { id, value } = await operator.post('/accounts/:id/tokens', { id: us.id, body: { name: 'far' } });
  const distances = `${ms},${replicas ? sameRegion : ''},${coldKv}`;
  const headers = { 'x-api-key': value, 'connection-id': us.connection, 'x-distances': distances };
  const took: number[] = [];
  let next: string | undefined;
  for (let page = 0; page < pages; page++) {
    const began = performance.now();
    const query = `limit=${pageSize}${next ? `&cursor=${next}` : ''}`;
    const reply = await fetch(`${stack.baseUrl}/distance/vehicles?${query}`, { headers });
    const body = (await reply.json()) as { data?: unknown[]; next?: string }; // a page
    took.push(performance.now() - began);
    if (body.data?.length !== pageSize) throw new Error(`page ${page} is ${reply.status}`);
    next = body.next;
  }
  await operator.delete('/tokens/:id', { id }); // an account has only so many
  return took;
}
