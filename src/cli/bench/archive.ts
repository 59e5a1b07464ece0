import { runtimeMemory } from '../local/memory.ts';
import type { Stack } from '../local/stack.ts';
import { operatorOf, request } from '../operate/client.ts';
import { percentile, report, spread } from './report.ts';
import { benchStack } from './stack.ts';

type Size = { events: number; days: number; accounts: number; pages: number };
type Us = { account: string; connection: string; token: string };

const dayMs = 86_400_000;
const hotDays = 180;
/** For how long the job runs at a time, as in production. */
const runMs = 15_000;

/** Measures archiving, and pages of what is hot, of what is archived and across the boundary. */
export async function benchArchive(json: boolean, size: Size): Promise<void> {
  const { stack, directory } = await benchStack('archive');
  try {
    const us = await fill(stack, size);
    const before = await run(stack, 0);
    const work = await archiveAll(stack, directory);
    const { rows, bytes, files } = work.archive;
    const perEvent = (figure: number) => (figure / rows).toFixed(1);
    // Deleted rows leave free pages, which D1 fills again but does not give back.
    const bytesInD1 = before.databaseBytes / size.events;
    report(
      `Archiving ${rows} of ${size.events} events over ${size.days} days in ${size.accounts} accounts`,
      ['', 'measured'],
      [
        ['events archived', rows],
        ['events per second', Math.round(rows / work.seconds)],
        ['files', files],
        ['bytes per event in Parquet', perEvent(bytes)],
        ['bytes per event in D1, with its indexes', bytesInD1.toFixed(1)],
        ['Parquet against D1', (bytes / rows / bytesInD1).toFixed(2)],
        ['rows read per event', perEvent(work.read)],
        ['rows written per event', perEvent(work.written)],
        ['memory at rest, MB', Math.round(work.restMb)],
        ['memory at most, MB', Math.round(work.peakMb)],
      ],
      json,
    );
    await pages(stack, us, json, size);
  } finally {
    await stack.stop();
  }
}

/** Opens the accounts and spreads the events over the days up to now. */
async function fill(stack: Stack, { events, days, accounts }: Size): Promise<Us[]> {
  const operator = operatorOf(stack.baseUrl, stack.operatorKey);
  const each = events / accounts;
  const apartMs = (days * dayMs) / each;
  const start = Date.now() - days * dayMs;
  const all: Us[] = [];
  for (let at = 0; at < accounts; at++) {
    const account = await operator.post<{ id: string }>('/accounts', { name: `Bench ${at}` });
    const path = `/accounts/${account.id}`;
    const connection = await operator.post<{ id: string }>(`${path}/connections`, { provider: 'motive' });
    const token = await operator.post<{ value: string }>(`${path}/tokens`, { name: 'bench' });
    all.push({ account: account.id, connection: connection.id, token: token.value });
    for (let from = 0; from < each; from += 10_000)
      await request(`${stack.baseUrl}/fill`, {
        method: 'POST',
        body: JSON.stringify({
          sql: insertEvents(account.id, connection.id, at, start, apartMs),
          params: [from, Math.min(each, from + 10_000)],
        }),
      });
  }
  return all;
}

/** Events that differ as real ones do: ids, sourceIds, places and vehicles are of all kinds. */
const insertEvents = (account: string, connection: string, at: number, start: number, apartMs: number) => `
  with recursive n (i) as (select cast(?1 as integer) union all select i + 1 from n where i + 1 < ?2)
  insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types, translated_incident_types,
    event_risk, issued_on, started_at, location, vehicle_id, vehicle_name, vehicle_vin, vehicle_groups, driver_id,
    max_speed_kph, created_at, updated_at)
  select lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-5' || substr(hex(randomblob(2)), 2) || '-8' ||
      substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))),
    '${account}', '${connection}', lower(hex(randomblob(8))), 'Motive', '["hard_brake"]', '["Harsh Braking"]',
    1 + i % 5, ${start} + cast(i * ${apartMs} as integer), ${start} + cast(i * ${apartMs} as integer),
    json_object('latitude', round(30 + abs(random() % 1000000) / 50000.0, 6),
      'longitude', round(-120 + abs(random() % 1000000) / 20000.0, 6)),
    printf('%08x-0001-4000-8000-%012x', ${at}, i % 200), 'Truck ' || (i % 200), '1FUJGLDR5CLBP' || printf('%04d', i % 200),
    '["North","Reefers"]', printf('%08x-0003-4000-8000-%012x', ${at}, i % 150), 60 + i % 50, ${start} + i, ${start} + i
  from n`;

type Run = {
  cost: { read: number; written: number };
  archive: { rows: number; bytes: number; files: number; open: number };
  databaseBytes: number;
};

const run = async (stack: Stack, ms: number): Promise<Run> => {
  const response = await fetch(`${stack.baseUrl}/archive?ms=${ms}`, { method: 'POST' });
  return ((await response.json()) as { data: Run }).data; // what the benchmark's Worker returns
};

/** Runs the job until it finds nothing, and watches the memory of the runtime meanwhile. */
async function archiveAll(stack: Stack, directory: string) {
  const restMb = await runtimeMemory(directory);
  let peakMb = restMb;
  const watch = setInterval(async () => {
    peakMb = Math.max(peakMb, await runtimeMemory(directory));
  }, 500);
  const began = performance.now();
  const total = { read: 0, written: 0 };
  let archive: Run['archive'] | undefined;
  for (let last = -1; last !== archive?.rows || archive.open > 0; ) {
    last = archive?.rows ?? -1;
    const done = await run(stack, runMs);
    total.read += done.cost.read;
    total.written += done.cost.written;
    archive = done.archive;
  }
  clearInterval(watch);
  return { ...total, archive, seconds: (performance.now() - began) / 1000, restMb, peakMb };
}

/** Times pages of 50 that begin anywhere, in turns. */
async function pages(
  stack: Stack,
  all: Us[],
  json: boolean,
  { events, days, accounts, pages }: Size,
): Promise<void> {
  const apartMs = (days * dayMs * accounts) / events;
  const now = Date.now();
  const boundary = Math.floor(now / dayMs - hotDays) * dayMs;
  const room = 100 * apartMs;
  const within = (from: number, to: number) => from + Math.random() * Math.max(0, to - from);
  const starts = {
    hot: () => within(boundary, now - room),
    archived: () => within(now - days * dayMs, boundary - room),
    across: () => within(boundary - 45 * apartMs, boundary - 5 * apartMs),
  };
  const rows = [];
  const hotMs: number[] = [];
  const measured = new Map(
    Object.keys(starts).map((name) => [name, { ms: [] as number[], items: 0, read: 0, trips: 0 }]),
  );
  for (let i = 0; i < pages + 3; i++)
    for (const [name, start] of Object.entries(starts)) {
      const us = all[i % all.length];
      const kept = measured.get(name);
      if (!us || !kept) continue;
      const page = await timed(stack, us, start());
      if (i < 3) continue; // the first ones compile the code
      kept.ms.push(page.ms);
      kept.items += page.items;
      kept.read += page.read;
      kept.trips += page.trips;
      if (name === 'hot') hotMs.push(page.ms);
    }
  for (const [name, { ms, items, read, trips }] of measured) {
    const each = (figure: number) => Number((figure / pages).toFixed(1));
    const median = spread(ms).median;
    rows.push([
      name,
      each(items),
      median.toFixed(1),
      percentile(ms, 0.95).toFixed(1),
      (median / spread(hotMs).median).toFixed(2),
      each(read),
      each(trips),
    ]);
  }
  report(
    `Pages of 50, which begin anywhere: ${pages} of each in turns`,
    ['page', 'items, on average', 'ms, median', 'ms, p95', 'against hot', 'rows read', 'round trips'],
    rows,
    json,
  );
}

async function timed(stack: Stack, us: Us, from: number) {
  const range = `from=${new Date(from).toISOString()}&to=2100-01-01`;
  const headers = { 'x-api-key': us.token, 'connection-id': us.connection };
  const began = performance.now();
  const response = await fetch(`${stack.baseUrl}/count/safety-events?${range}&limit=50`, { headers });
  const { data } = (await response.json()) as { data: unknown[] }; // the envelope
  const ms = performance.now() - began;
  const d1 = JSON.parse(response.headers.get('x-d1') ?? '{}') as { read: number; trips: number };
  return { ms, items: data.length, ...d1 };
}
