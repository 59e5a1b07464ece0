// @module-tag proof
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
import { rowsOf } from '#test/support/account-rows.ts';
import { fullAccount } from '#test/support/full-account.ts';
import {
  addRow,
  as,
  ask,
  call,
  changeAccount,
  invalid,
  newLink,
  ownRows,
  receiver,
  register,
  rows,
  signIn,
  vehicle,
  type World,
  world,
} from '#test/support.ts';
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
  there,
  workOn,
} from './support.ts';

beforeAll(prepareCells);

/** Makes so many calls of a move; then the router is killed. */
const workFor = (accountId: string, calls: number, cancel = false) =>
  workOn(accountId, there, { killedAt: calls, cancel }).catch(() => undefined);

/** Works on a move until it copies, or has copied all rows. */
async function workUntilCopying(accountId: string, all = false) {
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

/** An account at work, of which all rows are copied but for its drivers. */
async function withLackingCopy() {
  const us = await fullAccount();
  await workUntilCopying(us.accountId, true);
  await rowsIn('eu', 'delete from drivers where account_id = ?1', us.accountId);
  return us;
}

/** Whether a cell takes records of the account, as it does unless it moves. */
const takes = async (us: World) => (await us.send(vehicle())).status;

it('while an account moves, no job or message works on it in either cell', async () => {
  const us = await fullAccount();
  const called = vi.spyOn(globalThis, 'fetch');
  const [webhook] = await ownRows(us, 'webhooks');
  const webhookId = String(webhook?.id);
  for (const due of [
    'alert_messages set due_at',
    'exports set next_at',
    'pulls set due_at',
    'event_counting set counted_to',
  ])
    await rows(`update ${due} = 1 where account_id = ?1`, us.accountId);
  await rows(
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
    const now = await allRows('main', us.accountId);
    // Once it switches, the account may live in the other cell.
    if ((await stateOf(us.accountId)) === 'copying')
      expect([called.mock.calls, { ...now, ...pruned }]).toEqual([[], { ...before, ...pruned }]);
    await workFor(us.accountId, 24);
  }
  for (const bindings of Object.values(cells)) await handle(bindings, wake);
  expect(called).toHaveBeenCalledTimes(1);
  await removeLeft('main');
});

it('while an account moves, that can be cancelled, and leaves nothing', async () => {
  const us = await fullAccount();
  const before = await allRows('main', us.accountId);
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
    expect(await allRows('main', us.accountId)).toEqual(before);
  }
  expect(steps).toBeGreaterThan(90);
  await moveTo(us.accountId, there);
  expect(await allRows('eu', us.accountId)).toEqual(before);
  await removeLeft('main');
});

it('while an account moves, a row that is missing in its copy cancels it', async () => {
  const us = await withLackingCopy();
  await expect(moveTo(us.accountId, there)).rejects.toThrow('The copy of drivers differs');
  expect([await stateOf(us.accountId), await takes(us)]).toEqual(['none', 200]);
  await removeLeft('eu');
});

it('a refused switch is final, also if nobody hears of it', async () => {
  const us = await withLackingCopy();
  while ((await stateOf(us.accountId)) === 'copying') await workFor(us.accountId, 3);
  expect(await stateOf(us.accountId)).toBe('switching');
  await workFor(us.accountId, 2);
  await expect(moveTo(us.accountId, there)).rejects.toThrow('The copy was deleted. Begin again.');
  expect([await stateOf(us.accountId), await takes(us)]).toEqual(['none', 200]);
  await removeLeft('eu');
});

it('two operators who move an account at once move it once', async () => {
  const us = await fullAccount();
  const before = await allRows('main', us.accountId);
  await Promise.all([moveTo(us.accountId, there), moveTo(us.accountId, there)]);
  expect(await allRows('eu', us.accountId)).toEqual(before);
  await removeLeft('main');
});

it('what is sent late is refused, after a cancelled move and a done one', async () => {
  const us = await world();
  await workUntilCopying(us.accountId);
  const [row] = await ownRows(us, 'moves');
  const now: Move = JSON.parse(String(row?.move));
  const path = `/accounts/${us.accountId}/move`;
  const send = ({ table = 'vehicles', ...changed }: Partial<Move> & { table?: string } = {}) => {
    const late: Move = { ...now, ...changed };
    const headers = { [partHeader]: encodePart({ from: 'main', now: late, next: late }) };
    return operate('eu', 'PUT', path, { table, rows: [{ id: 'x' }] }, headers);
  };
  expect((await send({ id: crypto.randomUUID() })).status).toBe(503);
  const unlike = await send({ table: 'accounts' });
  expect(unlike).toMatchObject(invalid(expect.stringContaining('Deploy both alike')));
  await moveTo(us.accountId, there, true);
  expect((await send()).status).toBe(503);
  await removeLeft('eu');
  await moveTo(us.accountId, there);
  expect((await send()).status).toBe(503);
  const done = { state: 'done', to: 'eu' };
  expect((await workOn(us.accountId, ['eu', 'eu'])).data).toMatchObject(done);
  expect((await send({ state: 'switching' })).status).toBe(200);
  const found = 'select 1 from vehicles where account_id = ?1';
  expect(await rowsIn('eu', found, us.accountId)).toEqual([]);
});

it('a provider’s webhook makes no pull due during a move, and then goes elsewhere', async () => {
  const us = await world('samsara');
  const { id } = us.connection;
  const webhook_secret = JSON.stringify(await seal(env, id, { secret: 'c2VjcmV0c2VjcmV0' }));
  await addRow('pulls', {
    connection_id: id,
    account_id: us.accountId,
    secrets: '{}',
    webhook_secret,
    due_at: 9e15,
  });
  const webhook = connectorOf('samsara')?.webhook;
  if (webhook) vi.spyOn(webhook, 'isSigned').mockResolvedValue(true);
  const callAsProvider = async () => {
    const { status, headers } = await call('POST', `/providers/${id}/webhook`, { body: '{}' });
    return [status, headers.get('fleet-cell')];
  };
  await workUntilCopying(us.accountId);
  expect(await callAsProvider()).toEqual([200, null]);
  expect(await ownRows(us, 'pulls')).toMatchObject([{ due_at: 9e15 }]);
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
  const link = await newLink(email);
  await moveTo(us.accountId, there);
  for (const prepare of [async () => {}, () => removeLeft('main')]) {
    await prepare();
    const left = [
      (await us.api.get('/webhooks')).headers,
      (await us.send(vehicle())).headers,
      (await get('/portal')).headers,
      (await ask('POST', link)).headers,
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
  const left = async () => {
    await continueDeletions(cell('eu'));
    return rowsIn('eu', 'select 1 from accounts where id = ?1', us.accountId);
  };
  await expect.poll(left).toEqual([]);
  expect((await client.get('/webhooks')).status).toBe(401);
  expect((await us.api.get('/webhooks')).status).toBe(421);
});

describe('refuses, and says what to do,', () => {
  const done = { part: '', problem: null, isLast: false };
  /** What is left of a move that was refused, in either cell. */
  const leftOf = async ({ accountId }: World) => [
    ...(await rows('select 1 from moves where account_id = ?1', accountId)),
    ...(await rowsIn('eu', 'select 1 from accounts where id = ?1', accountId)),
  ];

  it('what cannot be moved', async () => {
    const us = await world();
    const path = `/accounts/${us.accountId}`;
    const refuses = async (why: string, to = 'eu', of = path, router: object = { done }) => {
      const { message } = await operate('main', 'POST', `${of}/move`, { to, ...router });
      expect(message).toContain(why);
    };
    await refuses('Accounts move through a router', 'eu', path, {});
    await refuses('to must be the name of a cell', 'M A R S');
    await expect(workOn(us.accountId, ['main', 'mars'])).rejects.toMatchObject({
      failure: { message: 'to must be one of main, eu' },
    });
    await refuses('Unknown account', 'eu', `/accounts/${crypto.randomUUID()}`);
    await changeAccount(us, { status: 'suspended' });
    await refuses('Activate the account before you move it');
    await changeAccount(us, { status: 'active' });
    const deletion = { id: 'c', kind: 'connection', account_id: us.accountId, due_at: 9e15 };
    await addRow('deletions', deletion);
    await refuses('until nothing of it is being deleted');
    await rows('delete from deletions');
    expect(await leftOf(us)).toEqual([]);
    await workUntilCopying(us.accountId);
    const moving = 'The account is being moved to eu. Cancel that first, or wait for its end.';
    await refuses(moving, 'us2');
    const deleted = await operate('main', 'POST', `${path}/deletion`, { name: 'Acme Insurance' });
    expect(deleted.status).toBe(503);
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
      problem = (await workOn(us.accountId, there, { bindings })).data.problem;
      expect(await takes(us)).toBe(200);
    }
    expect(problem).toContain(message);
    expect(await leftOf(us)).toEqual([]);
  });

  it('all of it without the operator key of each cell', async () => {
    const us = await world();
    const eu = { ...cell('eu'), OPERATOR_KEY: 'yet another operator key, 32+ characters' };
    const reply = await workOn(us.accountId, there, { bindings: { ...cells, eu } });
    expect([reply.status, await takes(us)]).toEqual([401, 200]);
  });
});
