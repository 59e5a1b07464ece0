import type { Asking } from './ask.ts';
import { by } from './customers.ts';
import type { Kernel } from './kernel.ts';
import { type Account, type Delivery, type Hook, Violation } from './model.ts';

const paths: [string, string][] = [
  ['/safety-events', '?from=1970-01-01&to=9999-01-01&'],
  ['/trips', '?'],
  ['/accidents', '?'],
  ['/vehicles', '?'],
];

/** Whoever reads an account's data, and what is wrong with that. */
export function readers(kernel: Kernel, { once, must, list }: Asking) {
  const { now, below, pick } = kernel;
  const itemId = (item: { id?: string; eventId?: string }) => item.id ?? item.eventId ?? '';

  /** Reads a list, and finds what was taken in before exactly once. */
  const read = async (
    account: Account,
    [path, query] = pick(paths),
    { id } = pick(account.connections),
    ask = once,
  ) => {
    const before = now();
    const items = await list(path + query, { ...by(account), 'connection-id': id }, ask);
    if (!items || account.gone) return undefined;
    const seen = items.map(itemId);
    if (new Set(seen).size < seen.length)
      throw new Violation(`${path} has a record twice: ${seen}`);
    for (const [wanted, record] of account.records)
      if (record.path === path && record.connectionId === id && record.accepted < before)
        if (!seen.includes(wanted)) throw new Violation(`${wanted} is not in ${path}: ${seen}`);
    return items;
  };

  /** Reads a page of the changes; returns whether there are more. */
  const follow = async (account: Account, ask = once) => {
    const { follower } = account;
    const { cursor } = follower;
    const query = `kinds=vehicle,trip,safetyEvent,accident&limit=${1 + below(20)}`;
    const path = `/changes?${query}${cursor ? `&cursor=${cursor}` : ''}`;
    const { status, data, resume, next } = await ask('GET', path, by(account));
    if (status !== 200 || follower.cursor !== cursor) return false; // it has read on meanwhile
    for (const { id, data: item } of data) follower.copy.set(id, item);
    follower.cursor = resume;
    return next !== undefined;
  };
  const readAll = async (account: Account, ask = once) => {
    const items = [];
    for (const path of paths)
      for (const connection of [...account.connections]) // one may be deleted meanwhile
        items.push(...((await read(account, path, connection, ask)) ?? [undefined]));
    return items;
  };

  return {
    read: async (account: Account) => void (await read(account)),
    follow,

    /** Whether deliveries of an account are pending. */
    async waits(account: Account) {
      const page = await must('GET', '/deliveries?status=pending&limit=1', by(account));
      return page.data.length > 0 || page.next !== undefined;
    },

    deliveriesOf: async (hook: Hook): Promise<Delivery[]> =>
      (await list(`/deliveries?webhookId=${hook.id}&`, by(hook.account), must)) ?? [],

    /** In the end all lists are complete, and whoever has followed has the same. */
    async check(account: Account) {
      const items = await readAll(account, must);
      while (await follow(account, must));
      const { copy } = account.follower;
      for (const item of copy.values())
        if (account.disconnected.has((item as { connectionId: string } | null)?.connectionId ?? ''))
          throw new Violation(`whoever follows still has ${JSON.stringify(item)}`);
      for (const item of items) {
        const [copied, listed] = [copy.get(itemId(item)), item].map((one) => JSON.stringify(one));
        if (copied !== listed)
          throw new Violation(`whoever follows has ${copied}, and not ${listed}`);
      }
    },
  };
}
