import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '../local/stack.ts';
import { operatorOf, request } from '../operate/client.ts';
import { readRecords } from '../operate/import/read.ts';
import { importLines } from '../operate/import/run.ts';
import { sendRecords } from '../operate/import/send.ts';
import { generateFleet } from '../operate/synthetic-fleet.ts';
import { report } from './report.ts';
import { benchStack } from './stack.ts';

const accounts = 20;
const day = 86_400_000;
const start = Date.parse('2026-01-01T00:00:00Z');
/** One event in this many has a rare type, for a filter that lets little through. */
const rare = 499;

type Size = { events: number; trips: number; imported: number };

/** Measures the lists (rows read by each kind of page) and the import (records per second). */
export async function benchLists(json: boolean, size: Size): Promise<void> {
  const { stack, directory } = await benchStack('lists');
  try {
    const us = await fill(stack, size);
    await pages(stack, us, json, size);
    await importing(stack, directory, json, size);
  } finally {
    await stack.stop();
  }
}

type Us = { token: string; connection: string; vehicle: string; driver: string };

async function fill(stack: Stack, { events, trips }: Size): Promise<Us> {
  const operator = operatorOf(stack.baseUrl, stack.operatorKey);
  const made: { account: string; connection: string; token: string }[] = [];
  for (let i = 0; i < accounts; i++) {
    const account = await operator.post<{ id: string }>('/accounts', { name: `Bench ${i}` });
    const path = `/accounts/${account.id}`;
    const connection = await operator.post<{ id: string }>(`${path}/connections`, { provider: 'motive' });
    const token = await operator.post<{ value: string }>(`${path}/tokens`, { name: 'bench' });
    made.push({ account: account.id, connection: connection.id, token: token.value });
  }
  const sql = (sql: string, ...params: unknown[]) =>
    request(`${stack.baseUrl}/fill`, { method: 'POST', body: JSON.stringify({ sql, params }) });
  const counting = `with recursive n (i) as (select cast(?1 as integer) union all select i + 1 from n where i + 1 < ?2)`;
  const perAccount = async (
    rows: number,
    insert: (account: string, connection: string, at: number) => string,
  ) => {
    const each = rows / accounts;
    for (const [at, { account, connection }] of made.entries())
      for (let from = 0; from < each; from += 10_000)
        await sql(`${counting} ${insert(account, connection, at)}`, from, Math.min(each, from + 10_000));
  };
  const id = (kind: string, at: number, i: string) => `printf('%08x-${kind}-4000-8000-%012x', ${at}, ${i})`;
  await perAccount(
    accounts * 200,
    (account, connection, at) =>
      `insert into vehicles (id, account_id, connection_id, source_id, name, vin, groups, status, make, model, year,
       odometer_km, created_at, updated_at)
     select ${id('0001', at, 'i')}, '${account}', '${connection}', i, 'Truck ' || i, 'VIN' || i, '["North","Reefers"]',
       'active', 'Volvo', 'FH', 2021, i * 10.5, ${start} + i, ${start} + i from n`,
  );
  await perAccount(
    events,
    (account, connection, at) =>
      `insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types, translated_incident_types,
       event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_vin, vehicle_groups, driver_id, created_at, updated_at)
     select ${id('0002', at, 'i')}, '${account}', '${connection}', i, 'Motive', '["hard_brake"]',
       iif(i % ${rare} = 0, '["Drowsiness"]', '["Harsh Braking"]'), 1 + i % 5, ${start} + i * 60000, ${start} + i * 60000,
       ${id('0001', at, 'i % 200')}, 'Truck', 'VIN', '["North"]', ${id('0003', at, 'i % 200')}, ${start}, ${start} from n`,
  );
  await perAccount(
    trips,
    (account, connection, at) =>
      `insert into trips (id, account_id, connection_id, source_id, vehicle_id, driver_id, started_at, distance_km, created_at, updated_at)
     select ${id('0004', at, 'i')}, '${account}', '${connection}', i, ${id('0001', at, 'i % 200')}, ${id('0003', at, 'i % 200')},
       ${start} + i * 60000, 10.5, ${start}, ${start} from n`,
  );
  const [first] = made;
  if (!first) throw new Error('there are accounts');
  return {
    token: first.token,
    connection: first.connection,
    vehicle: '00000000-0001-4000-8000-000000000007',
    driver: '00000000-0003-4000-8000-000000000007',
  };
}

async function pages(stack: Stack, us: Us, json: boolean, { events, trips }: Size): Promise<void> {
  const minutes = events / accounts;
  const date = (minute: number) => new Date(start + minute * 60_000).toISOString();
  const range = (from: number, to: number) => `from=${date(from)}&to=${date(to)}`;
  const all = range(0, minutes);
  const cases: [string, string][] = [
    ['vehicles, first page', '/vehicles?limit=50'],
    ['vehicles by VIN', '/vehicles?vin=VIN7'],
    ['connections', '/connections'],
    ['trips, first page', '/trips?limit=50'],
    ['trips, last pages', `/trips?limit=50&from=${date(trips / accounts - 60)}`],
    ['trips of a vehicle', `/trips?vehicleIds=${us.vehicle}`],
    ['trips of a driver', `/trips?driverIds=${us.driver}`],
    ['safety events, first page of all', `/safety-events?${all}`],
    ['safety events, last day', `/safety-events?${range(minutes - 1440, minutes)}`],
    ['safety events of a vehicle', `/safety-events?${all}&vehicleIds=${us.vehicle}`],
    ['safety events of a driver', `/safety-events?${all}&driverIds=${us.driver}`],
    ['safety events, risk 4 and 5 (2 in 5)', `/safety-events?${all}&minEventRisk=4`],
    [`safety events, a rare type (1 in ${rare})`, `/safety-events?${all}&eventTypes=Drowsiness`],
    ['safety events, a type that never was', `/safety-events?${all}&eventTypes=Smoking`],
  ];
  const rows = [];
  for (const [name, path] of cases) rows.push([name, ...(await count(stack, us, path))]);

  // A deep page, reached by cursors as a client would.
  const deep = Math.floor((minutes * 0.9) / 500);
  let next: string | undefined;
  for (let read = 0; read < deep; read++)
    next = (await page(stack, us, `/safety-events?${all}&limit=500${next ? `&cursor=${next}` : ''}`)).next;
  rows.push([
    `safety events, after ${deep * 500} others`,
    ...(await count(stack, us, `/safety-events?${all}&cursor=${next}`)),
  ]);
  report(
    `Rows that D1 reads for one page (${events} safety events, ${trips} trips, ${accounts} accounts)`,
    ['page', 'items', 'next', 'D1 round trips', 'rows read', 'rows written'],
    rows,
    json,
  );
}

const headersOf = (us: Us) => ({ 'x-api-key': us.token, 'connection-id': us.connection });

async function page(stack: Stack, us: Us, path: string) {
  const response = await fetch(`${stack.baseUrl}/count${path}`, { headers: headersOf(us) });
  const body = (await response.json()) as { data: unknown[]; next?: string; message: string };
  if (!response.ok) throw new Error(`${path}: ${body.message}`);
  return { ...body, d1: JSON.parse(response.headers.get('x-d1') ?? '{}') };
}

async function count(stack: Stack, us: Us, path: string): Promise<(string | number)[]> {
  await page(stack, us, path); // the hourly update of the token's last use is not a page's cost
  const { data, next, d1 } = await page(stack, us, path);
  return [data.length, next ? 'yes' : 'no', d1.trips, d1.read, d1.written];
}

async function importing(stack: Stack, directory: string, json: boolean, { imported }: Size): Promise<void> {
  const operator = operatorOf(stack.baseUrl, stack.operatorKey);
  const account = await operator.post<{ id: string }>('/accounts', { name: 'Import' });
  const connection = await operator.post<{ id: string }>(`/accounts/${account.id}/connections`, {
    provider: 'motive',
  });
  const key = await operator.post<{ value: string }>(`/connections/${connection.id}/ingest-keys`, {
    name: 'bench',
  });
  const file = join(directory, 'import.ndjson');
  const output = createWriteStream(file);
  let written = 0;
  for (const record of generateFleet({ vehicles: 500, days: 60, start: '2026-10-01', seed: 1 })) {
    if (written++ === imported) break;
    if (!output.write(`${JSON.stringify(record)}\n`))
      await new Promise((on) => output.once('drain', () => on(undefined)));
  }
  await new Promise((on) => output.end(on));

  const rows = [];
  for (const run of ['first time', 'again, all known']) {
    const memory: number[] = [];
    const began = performance.now();
    const summary = await importLines(
      readRecords(file),
      (records) => sendRecords(stack.baseUrl, key.value, records, false),
      {
        rejectedFile: `${file}.rejected.ndjson`,
        atOnce: 4,
        onProgress: () => memory.push(process.memoryUsage().rss / 2 ** 20),
      },
    );
    const seconds = (performance.now() - began) / 1000;
    const half = Math.floor(memory.length / 2);
    const peak = (part: number[]) => Math.round(Math.max(...part));
    rows.push([
      run,
      summary.accepted,
      summary.unchanged,
      summary.rejected,
      Math.round(imported / seconds),
      `${peak(memory.slice(0, half))} / ${peak(memory.slice(half))}`,
    ]);
  }
  report(
    `Import of ${imported} records`,
    ['', 'accepted', 'unchanged', 'rejected', 'records/s', 'peak MiB, 1st / 2nd half'],
    rows,
    json,
  );
  await writesPerRecord(stack, connection.id, json);
}

/** Counts the rows that a call of new records writes, kind by kind. */
async function writesPerRecord(stack: Stack, connection: string, json: boolean): Promise<void> {
  const operator = operatorOf(stack.baseUrl, stack.operatorKey);
  const key = await operator.post<{ value: string }>(`/connections/${connection}/ingest-keys`, {
    name: 'count',
  });
  const common = (i: number) => ({
    vehicle: 'w0',
    driver: 'w0',
    startedAt: new Date(start + i * day).toISOString(),
  });
  const kinds: [string, number, (i: number) => object][] = [
    ['driver', 2, (i) => ({ name: `w${i}` })],
    ['vehicle', 2, (i) => ({ name: `w${i}`, vin: `w${i}` })],
    ['trip', 4, common],
    ['safetyEvent', 3, (i) => ({ ...common(i), incidentTypes: ['crash'] })],
  ];
  const rows = [];
  for (const [kind, indexes, fields] of kinds) {
    const records = Array.from({ length: 500 }, (_, i) => ({ kind, sourceId: `w${i}`, ...fields(i) }));
    const call = async () => {
      const response = await fetch(`${stack.baseUrl}/count/ingest`, {
        method: 'POST',
        headers: { 'x-api-key': key.value, 'content-type': 'application/json' },
        body: JSON.stringify({ records, notify: false }),
      });
      await response.body?.cancel();
      return JSON.parse(response.headers.get('x-d1') ?? '{}');
    };
    const [fresh, known] = [await call(), await call()];
    rows.push([kind, 1 + indexes, fresh.written / 500, known.written / 500, known.read / 500]);
  }
  report(
    'Rows per record, calls of 500',
    ['kind', '1 + indexes', 'written, new', 'written, known', 'read, known'],
    rows,
    json,
  );
}
