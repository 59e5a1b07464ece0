import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { ask } from '../../support/portal.ts';
import { replicated } from '../../support/replica.ts';
import { rows } from '../../support/rows.ts';
import { operator, world } from '../../support/world.ts';
import { cookie, type Hits, letters } from './setting.ts';

export const tokenHits: Hits = {
  'active API tokens of an account': async (limit) => {
    const them = await world();
    const path = `/operator/accounts/${them.accountId}/tokens`;
    await addTokens(them.tokenId, limit - 2);
    await refusesOneMore(limit, () => operator.post(path, { name: 'more' }));
    await operator.delete(`/operator/tokens/${them.tokenId}`);
    expect((await operator.post(path, { name: 'in its place' })).status).toBe(200);
  },
  'active ingest keys of a connection': async (limit) => {
    const { connection } = await world();
    const path = `/operator/connections/${connection.id}/ingest-keys`;
    const [key] = await rows('select id from tokens where connection_id = ?1', connection.id);
    await addTokens(String(key?.id), limit - 2);
    await refusesOneMore(limit, () => operator.post(path, { name: 'more' }));
  },
  'time that revoking a token takes longer where [lists may lag](/docs/pagination#lists-that-may-lag)':
    async (limit) => {
      const them = await world();
      const { call } = await replicated();
      const authorization = `Bearer ${env.OPERATOR_KEY}`;
      const began = performance.now();
      const revoked = await call('DELETE', `/operator/tokens/${them.tokenId}`, { authorization });
      const took = performance.now() - began;
      expect(revoked.status).toBe(200);
      expect(took).toBeGreaterThanOrEqual(limit - 5);
      expect(took).toBeLessThan(limit + 1500); // and whatever else the machine does
    },
  'name of a token': async (limit) => {
    const post = (name: string) =>
      ask('POST', '/portal/settings/tokens', { cookie, fields: { name, expires: '' } });
    expect((await post(letters(limit))).status).toBe(200);
    expect((await post(letters(limit + 1))).status).toBe(400);
    expect((await post('a\u001b[2Jb')).status).toBe(400);
  },
};

/** Issues copies of a credential in the same account and for the same connection. */
const addTokens = (id: string, count: number) =>
  rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?2)
     insert into tokens (id, account_id, connection_id, scope, name, hash, last_four, created_at)
     select id || i, account_id, connection_id, scope, name, hash || i, last_four, created_at
     from tokens, n where id = ?1`,
    id,
    count,
  );

/** The last one there is room for is added, the next is refused with a message that names the limit. */
async function refusesOneMore(limit: number, add: () => Promise<{ status: number }>) {
  expect(await add()).toMatchObject({ status: 200 });
  expect(await add()).toMatchObject({ status: 400, message: expect.stringContaining(`at most ${limit}`) });
}
