import { openDatabase } from '../../platform/db/database.ts';
import { Refusal } from '../../platform/errors.ts';
import { bucketOf, type DayOf, type Part } from './bucket.ts';
import { catalogued, inArchive, putEntry } from './catalog.ts';
import { partsInBucket } from './write.ts';

/** The catalog's entry of a day, and what it should be according to the bucket. */
export type Repair = { catalog: Part[]; bucket: Part[] };

/**
 * Compares a day's catalog entry with the bucket and, with `apply`, repairs it. For operators: after going back in time
 * the catalog names files that were replaced since, and files may be lost.
 *
 * @throws Refusal: unavailable, while the archive is being changed, or when there is no bucket
 */
export async function repairDay(env: Env, day: DayOf, apply: boolean): Promise<Repair> {
  const bucket = bucketOf(env);
  if (!bucket) throw new Refusal({ kind: 'unavailable', retryAfter: 60 });
  const compared = async (): Promise<Repair> => ({
    catalog: await catalogued(openDatabase(env), day),
    bucket: await partsInBucket(bucket, day),
  });
  if (!apply) return compared();
  const done = await inArchive(env, async ({ db, write }) => {
    const found = await compared();
    await write(putEntry(db, day, found.bucket));
    return found;
  });
  if (done === 'busy') throw new Refusal({ kind: 'unavailable', retryAfter: 2 });
  return done.result;
}
