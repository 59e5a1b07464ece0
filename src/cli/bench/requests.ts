import autocannon from 'autocannon';
import { byTurns, type Measure } from './rounds.ts';
import type { Setting } from './setting.ts';

/** Measures requests per second, so many at a time: an authenticated page of vehicles, and a malformed token. */
export async function measureRequests(us: Setting, rounds: number, amount: number): Promise<Measure[]> {
  const headers = { 'x-api-key': us.token, 'connection-id': us.connection };
  const page = await (await fetch(`${us.stack.baseUrl}/vehicles?limit=50`, { headers })).text();
  const bare = await (
    await fetch(`${us.stack.baseUrl}/bare/vehicles?connection=${us.connection}`, { headers })
  ).text();
  if (JSON.stringify(JSON.parse(page).data) !== JSON.stringify(JSON.parse(bare).data))
    throw new Error('the bare Worker returns something else');
  const rate = (path: string, headers: Record<string, string>, expected: number) => async () => {
    const url = us.stack.baseUrl + path;
    // By itself it ends at a full second.
    const result = await autocannon({ url, headers, connections: 16, amount, sampleInt: 20 });
    const others = result.requests.total - (result.statusCodeStats?.[`${expected}`]?.count ?? 0);
    if (others > 0) throw new Error(`${others} replies of ${path} were not ${expected}`);
    return (1000 * amount) / (result.finish.getTime() - result.start.getTime());
  };
  const vehicles = {
    bare: rate(`/bare/vehicles?connection=${us.connection}`, headers, 200),
    service: rate('/vehicles?limit=50', headers, 200),
  };
  const unlimited = { ...vehicles, service: rate('/unlimited/vehicles?limit=50', headers, 200) };
  const malformed = { 'x-api-key': 'fds_nonsense' };
  const refused = {
    bare: rate('/bare/refused', malformed, 401),
    service: rate('/vehicles', malformed, 401),
  };
  const unit = 'requests/s';
  const target = 0.8;
  return [
    await byTurns({ what: 'GET /vehicles?limit=50', unit, target }, rounds, vehicles),
    await us.quietly(() =>
      byTurns({ what: '  without the local limiter and log', unit, target }, rounds, unlimited),
    ),
    await byTurns({ what: 'a malformed token', unit, target }, rounds, refused),
    await us.quietly(() => byTurns({ what: '  without the local log', unit, target }, rounds, refused)),
  ];
}
