import { allPages, as, type Reply, rows, type World } from '#test/support.ts';

type ChangeOut = {
  kind: string;
  id: string;
  connectionId: string;
  action: 'changed' | 'deleted';
  data: Record<string, unknown> | null;
};
type ChangesReply = Reply<ChangeOut[]> & { resume: string };

export const changes = async (token: string, query = '', connection?: string) =>
  // `resume` is this list's own
  (await as(token, connection ? { 'Connection-Id': connection } : {}).get(
    `/changes?${query}`,
  )) as ChangesReply;

/** All changes that a query leads to, page by page. */
export async function allChanges(token: string, query: string) {
  const pages = await allPages((cursor) =>
    changes(token, `${query}${cursor ? `&cursor=${cursor}` : ''}`),
  );
  return pages.flatMap(({ data }) => data);
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
