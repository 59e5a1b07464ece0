import { dayMs } from '../../platform/durations.ts';
import { newAccount } from './account.ts';
import type { Benchmark, BenchStack } from './harness.ts';

/** For how long the job runs at a time, as in production. */
const runMs = 15_000;

/** What the archive has and the database takes, as the benchmarks' Worker reports it. */
type ArchiveRun = {
  cost: { read: number; written: number };
  archive: { rows: number; bytes: number; files: number; open: number };
  databaseBytes: number;
};

export const archive: Benchmark = {
  about: 'archiving 400 days of safety events: how fast, and how small they become',
  run: async ({ small, stack: start }) => {
    const { events, days, accounts } = small
      ? { events: 4000, days: 200, accounts: 2 }
      : { events: 3_000_000, days: 400, accounts: 20 };
    const stack = await start();
    const apartMs = (days * dayMs * accounts) / events;
    for (let at = 0; at < accounts; at++) {
      const { id, connection } = await newAccount(stack);
      await stack.fill(
        events / accounts,
        insertEvents(at, Date.now() - days * dayMs, apartMs),
        id,
        connection,
      );
    }
    const before = await stack.call<ArchiveRun>('/bench/archive?ms=0');
    const { archive, seconds, ...work } = await archiveAll(stack);
    const rows = archive.rows - before.archive.rows;
    const perEvent = (figure: number) => (figure / rows).toFixed(1);
    // Deleted rows leave free pages, which D1 fills again but does not give back.
    const bytesInD1 = before.databaseBytes / events;
    return [
      {
        title: `Archiving ${rows} of ${events} events over ${days} days in ${accounts} accounts`,
        rows: [
          {
            'events archived': rows,
            'events per second': Math.round(rows / seconds),
            files: archive.files,
            'bytes per event in Parquet': perEvent(archive.bytes),
            'bytes per event in D1, with its indexes': bytesInD1.toFixed(1),
            'Parquet against D1': (archive.bytes / rows / bytesInD1).toFixed(2),
            'rows read per event': perEvent(work.read),
            'rows written per event': perEvent(work.written),
          },
        ],
      },
    ];
  },
};

/** Events that differ as real ones do: ids, sourceIds, places and vehicles are of all kinds. */
const insertEvents = (at: number, start: number, apartMs: number) => `
  insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types, translated_incident_types,
    event_risk, issued_on, started_at, location, vehicle_id, vehicle_name, vehicle_vin, vehicle_groups, driver_id,
    max_speed_kph, created_at, updated_at)
  select lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-5' || substr(hex(randomblob(2)), 2) || '-8' ||
      substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))),
    ?3, ?4, lower(hex(randomblob(8))), 'Motive', '["hard_brake"]', '["Harsh Braking"]',
    1 + i % 5, ${start} + cast(i * ${apartMs} as integer), ${start} + cast(i * ${apartMs} as integer),
    json_object('latitude', round(30 + abs(random() % 1000000) / 50000.0, 6),
      'longitude', round(-120 + abs(random() % 1000000) / 20000.0, 6)),
    printf('%08x-0001-4000-8000-%012x', ${at}, i % 200), 'Truck ' || (i % 200), '1FUJGLDR5CLBP' || printf('%04d', i % 200),
    '["North","Reefers"]', printf('%08x-0003-4000-8000-%012x', ${at}, i % 150), 60 + i % 50, ${start} + i, ${start} + i
  from n`;

/** Runs the job until it finds nothing. */
async function archiveAll({ call }: BenchStack) {
  const began = performance.now();
  const total = { read: 0, written: 0 };
  let archive: ArchiveRun['archive'] | undefined;
  for (let last = -1; last !== archive?.rows || archive.open > 0; ) {
    last = archive?.rows ?? -1;
    const done = await call<ArchiveRun>(`/bench/archive?ms=${runMs}`);
    total.read += done.cost.read;
    total.written += done.cost.written;
    archive = done.archive;
  }
  return { ...total, archive, seconds: (performance.now() - began) / 1000 };
}
