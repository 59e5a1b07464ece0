import { operatorOf } from '../operate/client.ts';
import { machine, percentile, report } from './report.ts';
import { type Setting, startSetting } from './setting.ts';

/** Where clients are, how many pages each reads, of how many tokens the first call is timed, and how often all is done. */
type Size = { clients: string[]; pages: number; firstCalls: number; rounds: number };

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
const scenes = routes.flatMap((route) => [false, true].map((replicas) => ({ ...route, replicas })));
type Scene = (typeof scenes)[number];

const pageSize = 50;

/** A page far from the database takes at most so many times what it takes beside it. */
const bar = 1.3;

/**
 * Measures pages of a list, one after the other, and the first calls of tokens, with round trips to the database that are
 * simulated. Prints a table, and returns whether a client in Sydney with replicas pages through an account in Frankfurt
 * nearly as quickly as through one at home.
 */
export async function benchDistance(
  json: boolean,
  { clients, pages, firstCalls, rounds }: Size,
): Promise<boolean> {
  const us = await startSetting('distance');
  try {
    await fill(us, pages * pageSize);
    const measured = scenes.filter(({ client }) => clients.includes(client));
    const times = measured.map((scene) => ({ scene, page: [] as number[], first: [] as number[] }));
    for (let round = -1; round < rounds; round++) {
      for (const { scene, page, first } of times) {
        const read = await withNewToken(us, scene, round < 0 ? 2 : pages);
        if (round < 0) continue; // to warm up
        page.push(...read);
        for (let i = 0; i < firstCalls; i++) first.push(...(await withNewToken(us, scene, 1)));
      }
    }
    const local = (client: string) =>
      times.find(({ scene }) => scene.client === client && scene.database === client && !scene.replicas)
        ?.page ?? [];
    const ratio = ({ scene, page }: (typeof times)[number]) =>
      percentile(page, 0.5) / percentile(local(scene.client), 0.5);
    const judged = times.find(
      ({ scene }) => scene.client === 'Sydney' && scene.database === 'Frankfurt' && scene.replicas,
    );
    const met = judged !== undefined && ratio(judged) <= bar;
    const ms = (values: number[], share: number) => percentile(values, share).toFixed(1);
    report(
      `Milliseconds of a page of ${pageSize}, and of a token's first call, for a Worker beside its client; bar: Sydney's p50 with replicas of an account in Frankfurt at most ${bar} × its own region's, ${met ? 'met' : 'missed'}; ${machine()}`,
      ['client', 'database', 'replicas', 'page p50', 'page p99', '× local p50', 'first p50', 'first p99'],
      times.map((time) => [
        time.scene.client,
        time.scene.database,
        time.scene.replicas ? 'yes' : 'no',
        ms(time.page, 0.5),
        ms(time.page, 0.99),
        ratio(time).toFixed(2),
        ms(time.first, 0.5),
        ms(time.first, 0.99),
      ]),
      json,
    );
    return met;
  } finally {
    us.receiver.stop();
    await us.stack.stop();
  }
}

/** Adds vehicles to the account, up to so many. */
async function fill(us: Setting, vehicles: number): Promise<void> {
  await us.post('/fill', {
    sql: `with recursive n (i) as (select 1000 union all select i + 1 from n where i + 1 < 1000 + ?1)
      insert into vehicles (id, account_id, connection_id, source_id, name, groups, status, created_at, updated_at)
      select printf('%08x-0005-5000-8000-%012x', (i * 2654435761) & 4294967295, i), account_id, connection_id,
        'filled-' || i, 'Truck ' || i, groups, status, created_at + i, updated_at
      from n cross join (select * from vehicles limit 1)`,
    params: [vehicles],
  });
}

/** Reads pages with a token that nobody has seen yet, and revokes it. Returns how long each page took. */
async function withNewToken(us: Setting, scene: Scene, pages: number): Promise<number[]> {
  const operator = operatorOf(us.stack.baseUrl, us.stack.operatorKey);
  const [account] = await operator.get<{ id: string }[]>('/accounts');
  const path = `/accounts/${account?.id}/tokens`;
  const { id, value } = await operator.post<{ id: string; value: string }>(path, { name: 'far' });
  const took = await pageThrough(us, scene, value, pages);
  await operator.delete(`/tokens/${id}`); // an account has only so many
  return took;
}

/** Reads a list from its beginning. Returns how long each page took. */
async function pageThrough(
  us: Setting,
  { ms, replicas }: Scene,
  token: string,
  pages: number,
): Promise<number[]> {
  const headers = {
    'x-api-key': token,
    'connection-id': us.connection,
    'x-distances': `${ms},${replicas ? sameRegion : ''},${coldKv}`,
  };
  const took: number[] = [];
  let next: string | undefined;
  for (let page = 0; page < pages; page++) {
    const began = performance.now();
    const query = `limit=${pageSize}${next ? `&cursor=${next}` : ''}`;
    const reply = await fetch(`${us.stack.baseUrl}/distance/vehicles?${query}`, { headers });
    const body = (await reply.json()) as { data?: unknown[]; next?: string }; // a page
    took.push(performance.now() - began);
    if (body.data?.length !== pageSize) throw new Error(`page ${page} is ${reply.status}`);
    next = body.next;
  }
  return took;
}
