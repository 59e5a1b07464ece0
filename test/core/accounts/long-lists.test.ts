import { maxApiTokens, maxIngestKeys } from '#src/core/accounts/tokens/service.ts';
import {
  addRows,
  allPages,
  operator,
  type Page,
  rows,
  signIn,
  times,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);

type Named = { id: string };

/** Adds rows to a table, as a run of a script would. Two at a time have the same time of creation. */
const add = (table: string, count: number) =>
  addRows(
    table,
    count,
    (i) => {
      const id = `extra-${us.accountId}-${i}`;
      if (table === 'audit_log') return { seq: 1000 + i, subject_id: id };
      const own = { tokens: { hash: id }, portal_users: { email: id } }[table];
      return { id, created_at: Date.now() + Math.floor(i / 2), ...own };
    },
    { usual: { ...usual, account_id: us.accountId } },
  );
const usual = {
  name: 'extra',
  provider: 'motive',
  scope: 'api',
  actor: 'operator',
  action: 'created',
  subject: 'API token',
};

/** All of a list, and in how many parts it came. */
async function readAll(path: string, limit = '') {
  const pages = await allPages((cursor) => {
    const query = new URLSearchParams({ ...(cursor && { cursor }), ...(limit && { limit }) });
    return operator.get<Named[]>(`${path}?${query}`);
  });
  return { ids: pages.flatMap(({ data }) => data.map(({ id }) => id)), parts: pages.length };
}

it.each([
  ['accounts', ''],
  ['connections', '/:id/connections'],
  ['tokens', '/:id/tokens'],
  ['portal_users', '/:id/users'],
])('lists of operators go beyond 1,000: %s', async (table, list) => {
  const path = `/operator/accounts${list.replace(':id', us.accountId)}`;
  const before = (await readAll(path)).ids;
  await add(table, 1100);
  const { ids, parts } = await readAll(path);
  expect([parts, new Set(ids).size, ids.length]).toEqual([2, ids.length, before.length + 1100]);
  expect(ids).toEqual(expect.arrayContaining(before));
  expect(await readAll(path, '333')).toEqual({ ids, parts: 4 });
});
it.each(['0', 'x', '1.5'])('lists of operators take no limit=%s', async (limit) => {
  expect((await operator.get(`/operator/accounts?limit=${limit}`)).status).toBe(400);
});

it.each([
  ['tokens', 'tokens'],
  ['people', 'portal_users'],
  ['audit', 'audit_log'],
])(
  'in the portal the list of %s leads to everything, however much there is',
  async (list, table) => {
    const { page } = await signIn(us);
    await add(table, 250);
    const found = new Set<string>();
    let pages = 0;
    for (let next: string | undefined = `/portal/settings/${list}`; next; pages++) {
      const { html, links }: Page = await page(next);
      for (const [id] of html.matchAll(/extra-[\w-]+/g)) found.add(id);
      [next] = links('Next');
    }
    expect([pages, found.size]).toEqual([3, 250]);
  },
);

const issue = (path: string, more: object = {}) =>
  operator.post<Named>(path, { name: 'one more', ...more });

it('an account has at most 200 active API tokens, until one is revoked', async () => {
  const path = `/operator/accounts/${us.accountId}/tokens`;
  await add('tokens', maxApiTokens - 2);
  const last = await issue(path);
  expect(last.status).toBe(200);
  const message = `An account can have at most ${maxApiTokens} active API tokens. Revoke one that is not used any more.`;
  expect(await issue(path)).toMatchObject({ status: 400, message });
  const { post } = await signIn(us);
  const page = await post('/portal/settings/tokens', { name: 'x', expires: '' });
  expect([page.status, await page.text()]).toEqual([400, expect.stringContaining(message)]);
  await operator.delete(`/operator/tokens/${last.data.id}`);
  expect((await issue(path)).status).toBe(200);
});

it('it has no more although many are issued at the same moment', async () => {
  const path = `/operator/accounts/${us.accountId}/tokens`;
  await add('tokens', maxApiTokens - 4);
  const replies = await Promise.all(times(10, () => issue(path)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
});

it('a connection has at most 20 ingest keys, of which expired ones do not count', async () => {
  const path = `/operator/connections/${us.connection.id}/ingest-keys`;
  for (let i = 1; i < maxIngestKeys; i++) expect((await issue(path)).status).toBe(200);
  const message = `A connection can have at most ${maxIngestKeys} active ingest keys. Revoke one that is not used any more.`;
  expect(await issue(path)).toMatchObject({ status: 400, message });
  await rows('update tokens set expires_at = 1 where connection_id = ?1', us.connection.id);
  expect((await issue(path)).status).toBe(200);
});
