import { createHash } from 'node:crypto';

/**
 * Gives rate limiters namespaces of their own. Cloudflare counts limiters of equal `namespace_id` together,
 * whichever of an account's Workers they belong to. The ids are positive 32-bit integers that follow from the
 * Worker's name and the limiter's, so each deploy of a Worker finds its own counters again.
 */
export function withOwnNamespaces<T extends { name: string }>(
  worker: string,
  limiters: T[],
): (T & { namespace_id: string })[] {
  const taken = new Set<number>([0]); // not positive
  return limiters.map((limiter) => {
    let id = 0;
    for (let salt = 0; taken.has(id); salt++) id = positive32(`${worker}/${limiter.name}/${salt}`);
    taken.add(id);
    return { ...limiter, namespace_id: String(id) };
  });
}

const positive32 = (text: string): number =>
  createHash('sha256').update(text).digest().readUInt32BE() & 0x7fffffff;
