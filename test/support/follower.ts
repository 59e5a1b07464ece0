import { rows } from './rows.ts';
import { allPages, as, type Reply, type World } from './world.ts';

/** A change as clients read it. */
export type ChangeOut = {
  kind: string;
  id: string;
  connectionId: string;
  action: 'changed' | 'deleted';
  data: Record<string, unknown> | null;
};
export type ChangesReply = Reply<ChangeOut[]> & { resume: string };

/** Asks for a page of the feed. */
export const changes = async (token: string, query = '', connection?: string): Promise<ChangesReply> =>
  // `resume` is this list's own
  (await as(token, connection ? { 'Connection-Id': connection } : {}).get(
    `/changes?${query}`,
  )) as ChangesReply;

/** A client that keeps a copy of what it reads, by id. */
export function follower(
  token: string,
  { query = '', connection }: { query?: string; connection?: string } = {},
) {
  const copy = new Map<string, ChangeOut['data']>();
  let cursor: string | undefined;
  const client = {
    copy,
    /** Starts from what a list shows, as a client does. */
    take: (items: Record<string, unknown>[]) => {
      for (const item of items) copy.set(String(item.id ?? item.eventId), item);
    },
    /** Reads a page from `from`, or from where it stands. Tells whether there is more. */
    read: async (from = cursor): Promise<boolean> => {
      const page = await changes(token, `${query}${from ? `&cursor=${from}` : ''}`, connection);
      if (page.status !== 200) throw new Error(`${page.status} ${page.message}`);
      for (const { id, data } of page.data) {
        if (data) copy.set(id, data);
        else copy.delete(id);
      }
      cursor = page.resume;
      return page.next !== undefined;
    },
    /** Reads all there is. */
    catchUp: async () => {
      while (await client.read());
    },
  };
  return client;
}

/** Everything that an account's lists show, by id. */
export async function listed(
  token: string,
  connections: string[],
): Promise<Map<string, Record<string, unknown>>> {
  const all = new Map<string, Record<string, unknown>>();
  for (const connection of connections)
    for (const path of [
      '/drivers?',
      '/vehicles?',
      '/trips?',
      '/safety-events?from=2000-01-01&to=2100-01-01&',
      '/accidents?',
    ]) {
      const api = as(token, { 'Connection-Id': connection });
      const pages = await allPages((cursor = '') =>
        api.get<{ id?: string; eventId?: string }[]>(`${path}limit=500${cursor && `&cursor=${cursor}`}`),
      );
      for (const item of pages.flatMap(({ data }) => data)) all.set(item.id ?? item.eventId ?? '', item);
    }
  return all;
}

/** Notes that so many vehicles changed, one by one a minute ago, which are not there any more. */
export const noteOthers = ({ accountId, connection }: World, count: number) =>
  rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?3)
     insert into changes (account_id, seq, connection_id, action, records)
     select ?1, ?4 + i, ?2, 'changed', json_object('vehicle', json_array(i)) from n`,
    accountId,
    connection.id,
    count,
    Date.now() - 60_000,
  );
