import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hourMs } from '../../../src/platform/durations.ts';
import { bucketOf } from '../../../src/webhooks/latency.ts';

/**
 * Writes what a webhook's counters would hold if it had been there for 30 days, into the local database of a stack in
 * this directory: more by day than by night, with a bad hour now and then.
 */
export function countEarlierHours(directory: string, webhookId: string): void {
  const [file] = globSync(join(directory, 'state/v3/d1/*/*.sqlite')).filter(
    (name) => !name.includes('metadata'),
  );
  if (!file) throw new Error(`${directory} has no local database`);
  const database = new DatabaseSync(file, { timeout: 5000 });
  const insert = database.prepare(
    `insert into webhook_hours (webhook_id, slot, hour, delivered, failed, noticed, retried, response_times)
     values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
  );
  const now = Math.floor(Date.now() / hourMs);
  for (let back = 1; back < 720; back++) {
    const hour = now - back;
    const daylight = Math.max(0, Math.sin((((hour % 24) - 5) / 19) * Math.PI));
    const delivered = Math.round(3 + 17 * daylight + ((hour * 7919) % 6));
    const failed = hour % 37 === 0 ? 2 : 0;
    const retried = hour % 11 === 0 ? 1 + (hour % 3) : 0;
    insert.run(
      webhookId,
      hour % 720,
      hour,
      delivered,
      failed,
      failed,
      retried,
      responseTimes(hour, delivered),
    );
  }
  database.close();
}

/** Answers take some 180 ms, a few of them twice as long, and in some hours much longer. */
function responseTimes(hour: number, count: number): string {
  const slow = hour % 11 === 0 ? 1900 : 420 + (hour % 5) * 40;
  const slowOnes = Math.max(1, Math.round(count / 15));
  return JSON.stringify({ [bucketOf(160 + (hour % 4) * 25)]: count - slowOnes, [bucketOf(slow)]: slowOnes });
}
