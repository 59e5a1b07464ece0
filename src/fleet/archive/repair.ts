import { Refusal } from '../../platform/errors.ts';
import { type DayOf, type Part, PartGone } from './bucket.ts';
import { dropEntry, entryOf, inArchive, putEntry, type State } from './catalog.ts';
import { type Move, partsInBucket } from './write.ts';

/**
 * Puts the catalog's entry of a day together again from what the bucket has: after the database went back in time, it
 * names files that others have replaced since.
 *
 * @throws PartGone: the bucket has nothing else
 */
export async function repair(
  { bucket, day, lease }: Pick<Move, 'bucket' | 'day' | 'lease'>,
  known: Part[],
): Promise<'next'> {
  const [entry] = await entryOf(lease.db, day);
  const parts = await partsInBucket(bucket, day);
  const same = parts.length === known.length && parts.every(({ file }, at) => file === known[at]?.file);
  if (same) throw new PartGone(day);
  const state: State = entry?.state ?? 'moving';
  await lease.write(parts.length > 0 ? putEntry(lease.db, day, state, parts) : dropEntry(lease.db, day));
  return 'next';
}

/** The same for whoever reads the day. @throws Refusal: unavailable, while another change of the archive goes on */
export async function repairForReader(env: Env, bucket: R2Bucket, day: DayOf): Promise<void> {
  const done = await inArchive(env, async (lease) => {
    const [entry] = await entryOf(lease.db, day);
    if (entry) await repair({ bucket, day, lease }, JSON.parse(entry.parts));
  });
  if (done === 'busy') throw new Refusal({ kind: 'unavailable', retryAfter: 2 });
}
