import { through } from '../../platform/db/through.ts';

/** D1's work: round trips (a batch is one), billed rows, and milliseconds by D1's clock. */
export type Rows = { trips: number; read: number; written: number; ms: number };

/** Wraps D1 and adds up in `rows` what each query costs. */
export const metered = (d1: D1Database, rows: Rows): D1Database =>
  through(d1, async (run) => {
    const result = await run();
    rows.trips += 1;
    for (const { meta } of [result].flat() as D1Result[]) {
      rows.read += meta.rows_read;
      rows.written += meta.rows_written;
      rows.ms += meta.duration;
    }
    return result;
  });
