import { hangs } from './limits.ts';

export type Store = 'D1' | 'KV' | 'queue' | 'R2';

/** Until when each hangs (by `performance.now`), and how many calls it has received since. */
const stores = new Map<string, { until: number; calls: number }>();

/** Makes a store hang for so many seconds. */
export const hang = (store: string, seconds: number): void =>
  void stores.set(store, { until: performance.now() + 1000 * seconds, calls: 0 });

/** Calls a store. One that hangs fails at the end, and has carried out every fifth call. */
export async function available<T>(store: Store, work: () => Promise<T>): Promise<T> {
  const hung = stores.get(store);
  const leftMs = (hung?.until ?? 0) - performance.now();
  if (!hung || leftMs <= 0) return work();
  if (hung.calls++ % 5 === 0) await work();
  await hangs(leftMs);
  throw new Error(`${store}_ERROR: storage caused object to be reset.`);
}
