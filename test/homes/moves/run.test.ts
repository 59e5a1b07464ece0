import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { beginMove } from '../../../src/homes/moves/begin.ts';
import { movedTables } from '../../../src/homes/moves/rows.ts';
import { continueMove } from '../../../src/homes/moves/run.ts';
import type { MoveProgress } from '../../../src/operator/api/moves.ts';
import { homesOf } from '../../../src/platform/homes/homes.ts';
import { newBudget } from '../../../src/platform/jobs/budget.ts';
import { handle } from '../../../src/webhooks/deliveries/consumer.ts';
import { allRows, fullAccount } from '../../support/full-account.ts';
import { home, killedAfter, leftovers, moveTo, rowsIn } from '../../support/homes.ts';
import { ask, signIn } from '../../support/portal.ts';
import { receiver } from '../../support/receiver.ts';
import { vehicle } from '../../support/records.ts';
import { rowsOf, tableNames } from '../../support/rows.ts';
import { as, type IssuedToken, operator, type World, webhookBody, world } from '../../support/world.ts';

/** What clients read of an account over HTTP. */
async function read(us: World) {
  const days = 'from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z';
  const paths = [
    '/vehicles',
    '/drivers',
    `/trips?${days}`,
    `/safety-events?${days}`,
    `/accidents?${days}`,
    '/webhooks',
  ];
  const replies: unknown[] = [];
  for (const path of [...paths, '/changes', '/deliveries'])
    replies.push((await as(us.apiToken, { 'connection-id': us.connection.id }).get(path)).data);
  const people = await operator.get(`/operator/accounts/${us.accountId}/users`);
  const tokens = await operator.get<object[]>(`/operator/accounts/${us.accountId}/tokens`);
  return [...replies, people.data, tokens.data.map((token) => ({ ...token, lastUsedAt: null }))];
}

const begin = (id: string, to: string) =>
  operator.post<MoveProgress>(`/operator/accounts/${id}/move`, { to });
const cancel = (id: string) => operator.post<MoveProgress>(`/operator/accounts/${id}/move/cancel`, {});
const stateOf = async (id: string) =>
  (await operator.get<MoveProgress>(`/operator/accounts/${id}/move`)).data.move?.state;

/** Works on moves from a home, and is killed after so many calls of the databases. */
async function workUntilKilled(name: string, accountId: string, calls: number): Promise<void> {
  const bindings = homesOf(killedAfter(calls)).get(name);
  if (bindings) await continueMove(bindings, accountId).catch(() => {});
  for (const home of ['main', 'eu']) await rowsIn(home, 'update jobs set leased_until = 0'); // as if its leases had expired
}

it('moves every table that is not known to stay', async () => {
  const own = ['accounts', 'database_sizes', 'deletions', 'jobs', 'moves', 'names', 'sweeps', 'test_calls'];
  const moved = (await movedTables(env)).map(({ name }) => name);
  expect([...moved, ...own].sort()).toEqual(await tableNames());
});

describe('moving an account', () => {
  it('takes everything to the new home, and leaves a row behind that leads there', async () => {
    const us = await fullAccount();
    const before = await rowsOf(us.accountId, home('main').DB);
    const empty = Object.keys(before).filter((table) => before[table]?.length === 0);
    expect(empty).toEqual(['deletions', 'moves']);
    const [rows, shown] = [await allRows('main', us.accountId), await read(us)];
    const files = await filesIn('main', us.accountId);

    const done = await moveTo(us.accountId, 'us2');
    expect(done).toMatchObject({ state: 'done', from: 'main', to: 'us2', problem: null });
    expect(done.copied).toBe(done.rows);

    expect(await allRows('us2', us.accountId)).toEqual(rows);
    expect(await read(us)).toEqual(shown);
    expect(await filesIn('us2', us.accountId)).toEqual(files);
    expect(files).toHaveLength(3);
    const left = await rowsOf(us.accountId, home('main').DB);
    expect(Object.keys(left).filter((table) => left[table]?.length)).toEqual(['accounts']);
    expect(left.accounts).toMatchObject([{ name: '', home: 'us2', frozen: 0 }]);
    for (const name of ['main', 'us2'])
      expect(await leftovers(name, us.accountId)).toEqual(name === 'main' ? [] : files.map(({ key }) => key));
    const [entry] = await rowsIn(
      'us2',
      `select * from audit_log where account_id = ?1 order by seq desc`,
      us.accountId,
    );
    expect(entry).toMatchObject({ action: 'changed', subject: 'account', fields: '["home"]' });
    const { data: token } = await operator.post<IssuedToken>(`/operator/accounts/${us.accountId}/tokens`, {
      name: 'new',
    });
    expect(token.value).toMatch(/^fds_us2_/);
    expect((await as(us.connection.ingestKey).send(vehicle({ name: 'Truck 2' }))).data).toMatchObject({
      accepted: 1,
    });
  });

  it('leads on who comes with a session, a sign-in link or a message of the old home', async () => {
    receiver();
    const us = await world();
    const { data: webhook } = await as(us.apiToken).post<{ id: string }>('/webhook', webhookBody(us));
    const { cookie, email } = await signIn(us);
    const { data: link } = await operator.post<{ url: string }>('/operator/sign-in-links', { email });
    await moveTo(us.accountId, 'us2');
    const page = await ask('GET', '/portal', { cookie });
    expect(page.status).toBe(200);
    expect(page.headers.get('set-cookie')).toContain('session=us2.');
    const used = await ask('POST', new URL(link.url).pathname);
    expect([used.status, used.headers.get('location')]).toEqual([303, '/portal']);
    const sent = vi.spyOn(home('us2').DELIVERIES, 'sendBatch');
    const wake = { accountId: us.accountId, webhookId: webhook.id, worker: 1 };
    await handle(home('main'), wake);
    expect(sent).toHaveBeenCalledWith([{ body: wake }]);
  });

  it('ends well however often whoever works on it is killed', async () => {
    const us = await fullAccount();
    let [from, to] = ['main', 'eu'];
    let sent = 0;
    const accepted: string[] = [];
    for (const first of env.FULL_PROOF ? [7, 9, 12, 17] : [9]) {
      const before = await allRows(from, us.accountId);
      await beginMove(home(from), us.accountId, to);
      for (let calls = first; (await stateOf(us.accountId)) !== undefined; calls++) {
        expect(calls).toBeLessThan(400);
        await workUntilKilled(from, us.accountId, calls);
        const sourceId = `late-${sent++}`;
        const { status } = await as(us.connection.ingestKey).send(vehicle({ sourceId, name: sourceId }));
        if (status === 200) accepted.push(sourceId);
        else expect(status).toBe(503);
      }
      const after = await allRows(to, us.accountId);
      const written = { vehicles: [], names: [], changes: [], tokens: [] }; // by what came in meanwhile
      expect({ ...after, ...written }).toEqual({ ...before, ...written });
      const listed = after.vehicles?.map((one) => one.source_id);
      expect(listed).toHaveLength(2 + accepted.length);
      expect(listed).toEqual(expect.arrayContaining(accepted));
      expect(await leftovers(from, us.accountId)).toEqual([]);
      [from, to] = [to, from];
    }
  });

  it('can be cancelled at every step before the switch, and leaves nothing behind', async () => {
    const us = await fullAccount();
    const rows = await allRows('main', us.accountId);
    let steps = 0;
    for (; ; steps += env.FULL_PROOF ? 4 : 24) {
      expect(steps).toBeLessThan(100);
      await beginMove(home('main'), us.accountId, 'eu');
      await continueMove(home('main'), us.accountId, newBudget({ ms: 60_000, queries: 6 * steps }));
      const reply = await cancel(us.accountId);
      if (reply.status === 400) break;
      while ((await stateOf(us.accountId)) !== undefined) await cancel(us.accountId);
      expect(await leftovers('eu', us.accountId)).toEqual([]);
      const { accounts: _, ...copied } = await rowsOf(us.accountId, home('eu').DB);
      expect(Object.keys(copied).filter((table) => copied[table]?.length)).toEqual([]);
      expect(await allRows('main', us.accountId)).toEqual(rows);
      expect((await as(us.connection.ingestKey).send(vehicle({ odometerKm: 0.1 + 0.2 }))).status).toBe(200);
    }
    expect(steps).toBeGreaterThan(28);
    await moveTo(us.accountId, 'eu');
    expect(await allRows('eu', us.accountId)).toEqual(rows);
  });
});

const filesIn = async (name: string, accountId: string) => {
  const { objects } = await home(name).ARCHIVE.list();
  return objects.filter(({ key }) => key.includes(accountId)).map(({ key, size }) => ({ key, size }));
};

describe('refuses, and says what to do,', () => {
  it.each([
    ['a home that there is none of', 'mars', 'to must be one of main, eu, us2'],
    ['what is no name', 'M A R S', 'to must be the name of a home'],
    ['the home where the account is', 'main', 'to must be another home: the account lives in main already'],
  ])('%s', async (_, to, message) => {
    const us = await world();
    expect(await begin(us.accountId, to)).toMatchObject({ status: 400, message });
    expect(await rowsIn('main', 'select 1 from moves')).toEqual([]);
  });

  it('an account that it does not know', async () => {
    for (const to of ['eu', 'main'])
      expect(await begin(crypto.randomUUID(), to)).toMatchObject({ status: 400, message: 'Unknown account' });
    expect(await cancel(crypto.randomUUID())).toMatchObject({
      status: 400,
      message: 'The account is not being moved',
    });
  });

  it("what the operators' document says, with its example of a move", async () => {
    const us = await world();
    await beginMove(home('main'), us.accountId, 'us2');
    const refused = [await begin(us.accountId, 'eu')];
    while ((await stateOf(us.accountId)) !== undefined) await cancel(us.accountId);

    await beginMove(home('main'), us.accountId, 'eu');
    while ((await stateOf(us.accountId)) !== 'cleaning up')
      await continueMove(home('main'), us.accountId, newBudget({ queries: 12 })); // a step or two
    refused.push(await cancel(us.accountId));
    await moveTo(us.accountId, 'eu');
    refused.push(await begin(us.accountId, 'eu'));
    expect(refused.map(({ status, message }) => [status, message])).toEqual([
      [400, 'The account is being moved to us2 already. Cancel that first, or wait until it is there.'],
      [400, 'The account lives in eu already. To have it back, move it again.'],
      [400, 'to must be another home: the account lives in eu already'],
    ]);
  });

  it('deletions meanwhile, but not the same move again', async () => {
    const us = await world();
    await beginMove(home('main'), us.accountId, 'eu');
    const deletion = await operator.post(`/operator/accounts/${us.accountId}/deletion`, {
      name: 'Acme Insurance',
    });
    expect(deletion.status).toBe(503);
    expect((await begin(us.accountId, 'eu')).status).toBe(200);
  });

  it('an account of which something is being deleted', async () => {
    const us = await world();
    await operator.post(`/operator/accounts/${us.accountId}/deletion`, { name: 'Acme Insurance' });
    expect(await begin(us.accountId, 'eu')).toMatchObject({
      status: 400,
      message: expect.stringContaining('is being deleted'),
    });
    expect(await leftovers('main', us.accountId)).toEqual([]);
  });

  it('to go on while the bindings of the new home are gone', async () => {
    const us = await world();
    await beginMove(home('main'), us.accountId, 'eu');
    const { DB_EU: _, ...bindings } = env as Env & { DB_EU?: D1Database };
    await expect(continueMove(bindings, us.accountId)).rejects.toMatchObject({
      failure: { message: expect.stringContaining('eu has no bindings any more') },
    });
    while ((await stateOf(us.accountId)) !== undefined) await cancel(us.accountId);
  });

  it('an account with an archive, where there is no bucket for it', async () => {
    const us = await fullAccount();
    const bindings = { ...env, ARCHIVE_EU: undefined };
    await expect(beginMove(bindings, us.accountId, 'eu')).rejects.toMatchObject({
      failure: { message: expect.stringContaining('eu has no bucket') },
    });
    expect(await rowsIn('main', 'select 1 from moves where account_id = ?1', us.accountId)).toEqual([]);
  });
});
