// More than 15 s: a move is cancelled after ever more calls.
import { env } from 'cloudflare:workers';
import { partHeader } from '#src/core/platform/cells.ts';
import { seal } from '#src/core/platform/crypto.ts';
import { runJob } from '#src/core/platform/jobs/jobs.ts';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { sweep } from '#src/core/webhooks/deliveries/sweep.ts';
import type { Move as Shown } from '#src/extras/cells/operations.ts';
import { encodePart, type Move } from '#src/extras/cells/operator/part.ts';
import { connectorOf } from '#src/extras/providers/registry.ts';
import { continueDeletions } from '#src/operator/deletion/run.ts';
import { jobs } from '#src/operator/jobs.ts';
import {
  allRows,
  cell,
  cells,
  filesIn,
  moveTo,
  operate,
  prepareCells,
  removeLeft,
  rowsIn,
  workOn,
} from '#test/extras/cells/support.ts';
import { fullAccount } from '#test/support/full-account.ts';
import { addressIn, ask, signIn } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { vehicle } from '#test/support/records.ts';
import { addRows, rowsOf } from '#test/support/rows.ts';
import { as, call, operator, register, world } from '#test/support/world.ts';

beforeAll(prepareCells);

const there = ['main', 'eu'];

/** Makes so many calls of a move; then the router is killed. */
const workFor = (accountId: string, calls: number, cancel = false) =>
  workOn(accountId, there, { killedAt: calls, cancel }).catch(() => undefined);

/** Works on a move until it copies, or has copied all rows. */
async function workUntilCopying(accountId: string, { all = false } = {}): Promise<void> {
  for (let calls = 0; calls < 500; calls++) {
    await workFor(accountId, 3);
    const move = await moveOf(accountId);
    if (move?.state === 'copying' && (!all || move.copied >= move.rows)) return;
  }
  throw new Error('never');
}

/** How its move stands; undefined once it has moved. */
const moveOf = async (accountId: string) =>
  (await operate<Shown | undefined>('main', 'GET', `/accounts/${accountId}/move`)).data;

const stateOf = async (accountId: string) => (await moveOf(accountId))?.state;

it('while an account moves, no job or message works on it in either cell', async () => {
  const us = await fullAccount();
  const hooks = receiver();
  const [webhook] = await rowsIn(
    'main',
    'select id from webhooks where account_id = ?1',
    us.accountId,
  );
  const webhookId = String(webhook?.id);
  for (const due of [
    'update alert_messages set due_at = 1 where account_id = ?1',
    'update exports set next_at = 1 where account_id = ?1',
    'update pulls set due_at = 1 where account_id = ?1',
    'update event_counting set counted_to = 1 where account_id = ?1',
  ])
    await rowsIn('main', due, us.accountId);
  await rowsIn(
    'main',
    `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
     select webhook_id, 'due', account_id, event_id, level, 'pending', 1
     from deliveries where webhook_id = ?1 limit 1`,
    webhookId,
  );
  await workUntilCopying(us.accountId);
  const before = await allRows('main', us.accountId);
  const pruned = { moves: [], alerts_sent: [], sent_forms: [] }; // by age, which may go on
  const wake = { accountId: us.accountId, webhookId, worker: 1 };
  for (let at = 0; (await stateOf(us.accountId)) !== undefined; at++) {
    expect(at).toBeLessThan(100);
    for (const bindings of Object.values(cells)) {
      await sweep(bindings);
      await handle(bindings, wake);
      for (const name of Object.keys(jobs)) await runJob(bindings, jobs, name);
    }
    if ((await stateOf(us.accountId)) !== undefined)
      expect({ ...(await allRows('main', us.accountId)), ...pruned }).toEqual({
        ...before,
        ...pruned,
      });
    await workFor(us.accountId, 24);
  }
  expect(hooks.got).toEqual([]);
  for (const bindings of Object.values(cells)) await handle(bindings, wake);
  expect(hooks.got).toHaveLength(1);
  await removeLeft('main');
});

it('while an account moves, that can be cancelled, and leaves nothing', async () => {
  const us = await fullAccount();
  const rows = await allRows('main', us.accountId);
  let steps = 1;
  for (; ; steps += env.FULL_PROOF ? 2 : 30) {
    await workFor(us.accountId, 3);
    for (let left = steps; left > 0; left -= 28) await workFor(us.accountId, Math.min(left, 28));
    const path = `/accounts/${us.accountId}/move`;
    const reply = await operate<Shown>('main', 'POST', path, { to: 'eu', cancel: true });
    if (reply.status === 400 || reply.data.state === 'switching') break;
    expect((await us.send(vehicle({ odometerKm: 0.1 + 0.2 }))).status).toBe(200);
    expect(await moveTo(us.accountId, there, true)).toMatchObject({ state: 'cancelled' });
    await removeLeft('eu');
    const { accounts: _, ...copied } = await rowsOf(us.accountId, cell('eu').DB);
    expect(Object.keys(copied).filter((table) => copied[table]?.length)).toEqual([]);
    expect(await filesIn('eu', us.accountId)).toEqual([]);
    expect(await allRows('main', us.accountId)).toEqual(rows);
  }
  expect(steps).toBeGreaterThan(90);
  await moveTo(us.accountId, there);
  expect(await allRows('eu', us.accountId)).toEqual(rows);
  await removeLeft('main');
});

it('while an account moves, a row that is missing in its copy cancels it', async () => {
  const us = await fullAccount();
  await workUntilCopying(us.accountId, { all: true });
  await rowsIn('eu', 'delete from drivers where account_id = ?1', us.accountId);
  await expect(moveTo(us.accountId, there)).rejects.toThrow('The copy of drivers differs');
  expect(await stateOf(us.accountId)).toBe('none');
  expect((await us.send(vehicle())).status).toBe(200);
  await removeLeft('eu');
});

it('a refused switch is final, also if nobody hears of it', async () => {
  const us = await fullAccount();
  await workUntilCopying(us.accountId, { all: true });
  await rowsIn('eu', 'delete from drivers where account_id = ?1', us.accountId);
  while ((await stateOf(us.accountId)) === 'copying') await workFor(us.accountId, 3);
  expect(await stateOf(us.accountId)).toBe('switching');
  await workFor(us.accountId, 2);
  await expect(moveTo(us.accountId, there)).rejects.toThrow('The copy was deleted. Begin again.');
  expect(await stateOf(us.accountId)).toBe('none');
  expect((await us.send(vehicle())).status).toBe(200);
  await removeLeft('eu');
});

it('two operators who move an account at once move it once', async () => {
  const us = await fullAccount();
  const rows = await allRows('main', us.accountId);
  await Promise.all([moveTo(us.accountId, there), moveTo(us.accountId, there)]);
  expect(await allRows('eu', us.accountId)).toEqual(rows);
  await removeLeft('main');
});

it('what is sent late is refused, after a cancelled move and a done one', async () => {
  const us = await world();
  await workUntilCopying(us.accountId);
  const [{ move } = {}] = await rowsIn(
    'main',
    'select move from moves where account_id = ?1',
    us.accountId,
  );
  const now: Move = JSON.parse(String(move));
  const send = ({ table = 'vehicles', ...changed }: Partial<Move> & { table?: string } = {}) => {
    const late: Move = { ...now, ...changed };
    const headers = { [partHeader]: encodePart({ from: 'main', now: late, next: late }) };
    return operate('eu', 'PUT', path, { table, rows: [{ id: 'x' }] }, headers);
  };
  const path = `/accounts/${us.accountId}/move`;
  expect((await send({ id: crypto.randomUUID() })).status).toBe(503);
  expect(await send({ table: 'accounts' })).toMatchObject({
    status: 400,
    message: expect.stringContaining('Deploy both alike'),
  });
  await moveTo(us.accountId, there, true);
  expect((await send()).status).toBe(503);
  await removeLeft('eu');
  await moveTo(us.accountId, there);
  expect((await send()).status).toBe(503);
  expect((await workOn(us.accountId, ['eu', 'eu'])).data).toMatchObject({
    state: 'done',
    to: 'eu',
  });
  expect((await send({ state: 'switching' })).status).toBe(200);
  expect(await rowsIn('eu', 'select 1 from vehicles where account_id = ?1', us.accountId)).toEqual(
    [],
  );
});

it('a provider’s webhook makes no pull due during a move, and then goes elsewhere', async () => {
  const us = await world({ providers: ['samsara'] });
  const { id } = us.connection;
  const sealed = await seal(env, id, { secret: 'c2VjcmV0c2VjcmV0' });
  await rowsIn(
    'main',
    `insert into pulls (connection_id, account_id, secrets, webhook_secret, credential_hash, base_url, organisation,
       organisation_id, history_days, connected_at, due_at)
     values (?1, ?2, '{}', ?3, ?1, 'https://x.example.com', 'Acme', 'Acme', 1, 1, 9e15)`,
    ...[id, us.accountId, JSON.stringify(sealed)],
  );
  const webhook = connectorOf('samsara')?.webhook;
  if (webhook) vi.spyOn(webhook, 'isSigned').mockResolvedValue(true);
  const callAsProvider = async () => {
    const { status, headers } = await call('POST', `/providers/${id}/webhook`, { body: '{}' });
    return [status, headers.get('fleet-cell')];
  };
  await workUntilCopying(us.accountId);
  expect(await callAsProvider()).toEqual([200, null]);
  expect(await rowsIn('main', 'select due_at from pulls where connection_id = ?1', id)).toEqual([
    { due_at: 9e15 },
  ]);
  await moveTo(us.accountId, there);
  expect(await callAsProvider()).toEqual([421, 'eu']);
  await removeLeft('main');
  expect(await callAsProvider()).toEqual([421, 'eu']);
});

it('after the switch the former cell names the other one to whoever comes', async () => {
  receiver();
  const us = await world();
  await register(us);
  const { email, get } = await signIn(us);
  const { data: link } = await operator.post<{ url: string }>('/operator/sign-in-links', { email });
  await moveTo(us.accountId, there);
  for (const prepare of [async () => {}, () => removeLeft('main')]) {
    await prepare();
    const left = [
      (await us.api.get('/webhooks')).headers,
      (await us.send(vehicle())).headers,
      (await get('/portal')).headers,
      (await ask('POST', addressIn(link.url))).headers,
    ];
    expect(left.map((headers) => headers.get('fleet-cell'))).toEqual(['eu', 'eu', 'eu', 'eu']);
  }
  const client = as(us.apiToken, {}, cell('eu'));
  expect((await client.get('/webhooks')).data).toHaveLength(1);
  const path = `/accounts/${us.accountId}`;
  const { data: token } = await operate<{ value: string }>('eu', 'POST', `${path}/tokens`, {
    name: 'new',
  });
  expect(token.value).toMatch(/^fds_eu_/);
  // Once it is deleted there, its credentials are unknown: the former cell still leads to where they are refused.
  await operate('eu', 'POST', `${path}/deletion`, { name: 'Acme Insurance', now: true });
  await vi.waitFor(async () => {
    await continueDeletions(cell('eu'));
    expect(await rowsIn('eu', 'select 1 from accounts where id = ?1', us.accountId)).toEqual([]);
  }, 20_000);
  expect((await client.get('/webhooks')).status).toBe(401);
  expect((await us.api.get('/webhooks')).status).toBe(421);
});

describe('refuses, and says what to do,', () => {
  const done = { part: '', problem: null, isLast: false };
  const begin = (id: string, to: string, router: object = { done }) =>
    operate('main', 'POST', `/accounts/${id}/move`, { to, ...router });

  it('what cannot be moved', async () => {
    const us = await world();
    const refuses = async (message: string, to = 'eu', id = us.accountId, router?: object) =>
      expect(await begin(id, to, router)).toMatchObject({
        message: expect.stringContaining(message),
      });
    await refuses('Accounts move through a router', 'eu', us.accountId, {});
    await refuses('to must be the name of a cell', 'M A R S');
    await expect(workOn(us.accountId, ['main', 'mars'])).rejects.toMatchObject({
      failure: { message: 'to must be one of main, eu' },
    });
    await refuses('Unknown account', 'eu', crypto.randomUUID());
    await operate('main', 'PATCH', `/accounts/${us.accountId}`, { status: 'suspended' });
    await refuses('Activate the account before you move it');
    await operate('main', 'PATCH', `/accounts/${us.accountId}`, { status: 'active' });
    const deletion = { id: 'c', kind: 'connection', account_id: us.accountId, due_at: 9e15 };
    await addRows('deletions', 1, () => deletion);
    await refuses('until nothing of it is being deleted');
    await rowsIn('main', 'delete from deletions');
    expect(await rowsIn('main', 'select 1 from moves where account_id = ?1', us.accountId)).toEqual(
      [],
    );
    await workUntilCopying(us.accountId);
    await refuses(
      'The account is being moved to eu. Cancel that first, or wait for its end.',
      'us2',
    );
    const name = { name: 'Acme Insurance' };
    expect((await operate('main', 'POST', `/accounts/${us.accountId}/deletion`, name)).status).toBe(
      503,
    );
    await moveTo(us.accountId, there);
    await refuses('The account lives in eu by now. Move it from there.', 'us2');
  });

  it.each([
    [
      'a cell with other ENCRYPTION_KEYS',
      { ENCRYPTION_KEYS: 'test:BAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=' },
      'differ in version or ENCRYPTION_KEYS',
    ],
    ['an archive where there is no bucket', { ARCHIVE: undefined }, 'eu has no bucket'],
  ])('%s, before any write is refused', async (_, changed, message) => {
    const us = await fullAccount();
    const bindings = { ...cells, eu: { ...cell('eu'), ...changed } as unknown as Env };
    let problem: string | null | undefined;
    for (let calls = 0; calls < 5 && !problem; calls++) {
      const reply = await workOn(us.accountId, there, { bindings });
      problem = reply.data.problem;
      expect((await us.send(vehicle())).status).toBe(200);
    }
    expect(problem).toContain(message);
    expect(
      await rowsIn('main', 'select state from moves where account_id = ?1', us.accountId),
    ).toEqual([]);
    expect(await rowsIn('eu', 'select 1 from accounts where id = ?1', us.accountId)).toEqual([]);
  });

  it('what is no part of a move', async () => {
    for (const part of ['', '%', 'x', '{}'])
      expect(
        await call('PUT', `/operator/accounts/${crypto.randomUUID()}/move`, {
          headers: { authorization: `Bearer ${env.OPERATOR_KEY}`, [partHeader]: part },
        }),
      ).toMatchObject({ status: 400, message: 'Not a part of a move' });
  });

  it('all of it without the operator key of each cell', async () => {
    const us = await world();
    const bindings = {
      ...cells,
      eu: { ...cell('eu'), OPERATOR_KEY: 'yet another operator key, 32+ characters' },
    };
    expect((await workOn(us.accountId, there, { bindings })).status).toBe(401);
    expect((await us.send(vehicle())).status).toBe(200);
  });
});
