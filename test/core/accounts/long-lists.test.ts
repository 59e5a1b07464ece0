import { maxApiTokens, maxIngestKeys } from '#src/core/accounts/tokens/service.ts';
import { signIn } from '#test/support/portal.ts';
import { addRows, rows } from '#test/support/rows.ts';
import { allPages, operator, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);

type Named = { id: string };

/** Adds rows to a table, as a run of a script would. Two at a time have the same time of creation. */
const add = (table: 'accounts' | 'connections' | 'tokens' | 'portal_users', count: number) =>
  addRows(
    table,
    count,
    (i) => {
      const id = `extra-${us.accountId}-${i}`;
      const ours = table !== 'accounts' && { account_id: us.accountId };
      const own = {
        tokens: { hash: id },
        portal_users: { email: id },
        accounts: {},
        connections: {},
      }[table];
      return { id, created_at: Date.now() + Math.floor(i / 2), ...ours, ...own };
    },
    { usual: { name: 'extra', provider: 'motive', scope: 'api' } },
  );

/** All of a list, and in how many parts it came. */
async function readAll(path: string, limit = '') {
  const pages = await allPages((cursor) => {
    const query = new URLSearchParams({ ...(cursor && { cursor }), ...(limit && { limit }) });
    return operator.get<Named[]>(`${path}?${query}`);
  });
  return { ids: pages.flatMap(({ data }) => data.map(({ id }) => id)), parts: pages.length };
}

it.each([
  ['accounts', (): string => '/operator/accounts'],
  ['connections', () => `/operator/accounts/${us.accountId}/connections`],
  ['tokens', () => `/operator/accounts/${us.accountId}/tokens`],
  ['portal_users', () => `/operator/accounts/${us.accountId}/users`],
] as const)('lists of operators go beyond 1,000: %s', async (table, path) => {
  const before = (await readAll(path())).ids;
  await add(table, 1100);
  const { ids, parts } = await readAll(path());
  expect(parts).toBe(2);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(before.length + 1100);
  expect(ids).toEqual(expect.arrayContaining(before));
  const small = await readAll(path(), '333');
  expect(small).toEqual({ ids, parts: 4 });
  const foreign = await operator.get(`${path()}?limit=1`);
  expect(
    await operator.get(`/operator/accounts/${us.accountId}x/users?cursor=${foreign.next}`),
  ).toMatchObject({ status: 400, message: 'Invalid cursor' });
  await rows(`delete from ${table} where id like 'extra-%'`);
});

it.each(['0', '-1', 'x', '1.5'])(
  'lists of operators go beyond 1,000: but not with limit=%s',
  async (limit) => {
    expect((await operator.get(`/operator/accounts?limit=${limit}`)).status).toBe(400);
  },
);

it.each([
  ['/portal/settings/tokens', 'tokens', (): string => us.tokenId],
  ['/portal/settings/people', 'portal_users', (): string => 'extra-last'],
] as const)(
  'in the portal %s leads to everything, however much there is',
  async (path, table, wanted) => {
    const { get } = await signIn(us);
    await add(table, 250);
    if (table === 'portal_users')
      await rows(
        "insert into portal_users (id, account_id, email, created_at) values ('extra-last', ?1, 'last@example.com', ?2)",
        us.accountId,
        Date.now() + 1000,
      );
    let pages = 0;
    let page = '';
    for (let next: string | undefined = path; next; pages++) {
      const reply: Response = await get(next);
      expect(reply.status).toBe(200);
      page = await reply.text();
      next = /href="([^"]*)">Next</.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(pages).toBe(3);
    expect(page).toContain(`${path}/${wanted()}/`);
    await rows(`delete from ${table} where id like 'extra-%'`);
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
  const replies = await Promise.all(Array.from({ length: 10 }, () => issue(path)));
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
