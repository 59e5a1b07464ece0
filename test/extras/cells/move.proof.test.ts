// @module-tag proof
// More than 15 s: accounts with rows in every table move, and moves are cut off at each step.
import { env } from 'cloudflare:workers';
import { copyEvidence } from '#src/extras/evidence/copy.ts';
import { partBytes } from '#src/extras/evidence/download.ts';
import { tables } from '#src/operator/deletion/tables.ts';
import { copyPart, crash, keepFor, media, video } from '#test/extras/evidence/support.ts';
import { rowsOf } from '#test/support/account-rows.ts';
import { fullAccount } from '#test/support/full-account.ts';
import { addRow, as, rows, vehicle, type World, world } from '#test/support.ts';
import {
  allRows,
  cell,
  cells,
  filesIn,
  killedAfter,
  moveTo,
  prepareCells,
  removeLeft,
  rowsIn,
  there,
  workOn,
} from './support.ts';

beforeAll(prepareCells);

/** What clients read of an account over HTTP in a cell. */
async function read(us: World, name: string) {
  const client = as(us.apiToken, { 'connection-id': us.connection.id }, cell(name));
  const days = 'from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z';
  const ofDays = ['trips', 'safety-events', 'accidents'].map((list) => `/${list}?${days}`);
  const found = [];
  for (const path of ['/vehicles', '/drivers', '/webhooks', ...ofDays, '/changes', '/deliveries']) {
    const { status, data, next } = await client.get(path);
    expect(status).toBe(200);
    found.push({ data, next });
  }
  return found;
}

describe('what is unique among accounts', () => {
  it('is of chance, or a move asks for it first', async () => {
    const moved = tables.map(({ name }) => name);
    const found = await rows(
      `select t.value || ' by ' || (select group_concat(name) from pragma_index_info(i.name)) as found
      from json_each(?1) t join pragma_index_list(t.value) i
      where i."unique" and not exists (select 1 from pragma_index_info(i.name)
        where name in ('account_id', 'connection_id', 'webhook_id', 'user_id'))`,
      JSON.stringify(moved),
    );
    const byChance = /(?:^id|hash|form|_id)(?:,|$)/;
    expect(
      found
        .map((row) => String(row.found))
        .filter((one) => !byChance.test(one.split(' by ')[1] ?? ''))
        .sort(),
    ).toEqual(['sign_in_domains by domain']);
  });

  /** An account with a domain, and what has another account in the other cell prove it as well. */
  async function withDomain() {
    const us = await world();
    const domain = `d-${us.accountId}.example.com`;
    const prove = (id: string, db: D1Database) =>
      addRow('sign_in_domains', { account_id: id, domain, proven_at: 1 }, { db });
    await prove(us.accountId, env.DB);
    const takenThere = async () => {
      const id = `other-${us.accountId}`;
      await addRow('accounts', { id, status: 'active' }, { db: env.DB_EU });
      await prove(id, env.DB_EU);
    };
    return { us, domain, takenThere };
  }

  it('refuses a move before anything stops', async () => {
    const { us, domain, takenThere } = await withDomain();
    await takenThere();
    await expect(moveTo(us.accountId, there)).rejects.toThrow(
      `Another account in eu has proven the domain ${domain}`,
    );
    expect((await us.send(vehicle())).status).toBe(200);
    expect(await rowsIn('eu', 'select 1 from accounts where id = ?1', us.accountId)).toEqual([]);
  });

  it('cancels a move if it is taken meanwhile', async () => {
    const { us, takenThere } = await withDomain();
    // A router that is killed after the other cell was asked.
    await workOn(us.accountId, there, { killedAt: 3 }).catch(() => undefined);
    await takenThere();
    await expect(moveTo(us.accountId, there)).rejects.toThrow('has proven the domain');
    await expect.poll(async () => (await us.send(vehicle())).status).toBe(200);
  });
});

it('moving an account takes everything along, leads there, and can go back', async () => {
  const us = await fullAccount();
  const before = await rowsOf(us.accountId);
  expect(Object.keys(before).filter((table) => before[table]?.length === 0)).toEqual([
    'deletions',
    'moves',
  ]);
  const [rows, files] = [await allRows('main', us.accountId), await filesIn('main', us.accountId)];
  const shown = await read(us, 'main');
  expect(files).toHaveLength(4);

  const done = await moveTo(us.accountId, there);
  expect(done).toMatchObject({ state: 'done', to: 'eu', problem: null });
  expect(await allRows('eu', us.accountId)).toEqual(rows);
  expect(await filesIn('eu', us.accountId)).toEqual(files);
  expect(await read(us, 'eu')).toEqual(shown);
  const back = await workOn(us.accountId, ['eu', 'main']);
  expect(back.data.problem).toMatch(/is still deleting what it had/);
  await moveTo(us.accountId, ['eu', 'main'], true);

  await removeLeft('main');
  const left = await rowsOf(us.accountId);
  expect(Object.keys(left).filter((table) => left[table]?.length)).toEqual(['accounts']);
  expect(left.accounts).toMatchObject([{ name: '', cell: 'eu', status: 'moved' }]);
  expect(await filesIn('main', us.accountId)).toEqual([]);
  const [entry] = await rowsIn(
    'eu',
    'select action, subject, fields from audit_log where account_id = ?1 order by seq desc limit 1',
    us.accountId,
  );
  expect(entry).toEqual({ action: 'changed', subject: 'account', fields: '["cell"]' });

  await moveTo(us.accountId, ['eu', 'main']);
  expect(await allRows('main', us.accountId)).toEqual(rows);
  expect(await read(us, 'main')).toEqual(shown);
  await removeLeft('eu');
});

it.each(['main', 'eu', 'router'])(
  'moving an account ends well however often %s is killed, and clients see 200 and 503 only',
  async (killed) => {
    const us = await fullAccount();
    const before = await allRows('main', us.accountId);
    let sent = 0;
    const accepted: string[] = [];
    let state: string | undefined = '';
    for (let calls = 0; state !== 'done'; calls += env.FULL_PROOF ? 1 : 5) {
      expect(calls).toBeLessThan(2_000);
      const bindings =
        killed === 'router' ? cells : { ...cells, [killed]: killedAfter(calls, cell(killed)) };
      const killedAt = killed === 'router' ? calls : undefined;
      const reply = await workOn(us.accountId, there, {
        bindings,
        ...(killedAt && { killedAt }),
      }).catch(() => undefined);
      await rowsIn('main', 'update jobs set leased_until = 0');
      state = reply?.data?.state;
      const [{ status = '' } = {}] = await rowsIn(
        'main',
        'select status from accounts where id = ?1',
        us.accountId,
      );
      const place = status === 'moved' ? 'eu' : 'main';
      const sourceId = `late-${sent++}`;
      const replies = [
        await as(us.connection.ingestKey, {}, cell(place)).send(
          vehicle({ sourceId, name: sourceId }),
        ),
        await as(us.apiToken, {}, cell(place)).get('/webhooks'),
      ];
      const refused = replies.map(({ status, headers }) => [status, headers.get('retry-after')]);
      if (replies[0]?.status === 200) {
        accepted.push(sourceId);
        await read(us, place);
      } else expect(refused).toEqual([...Array(2)].map(() => [503, '10']));
    }
    const after = await allRows('eu', us.accountId);
    const written = { vehicles: [], names: [], changes: [], tokens: [], moves: [] }; // by what came in meanwhile
    expect({ ...after, ...written }).toEqual({ ...before, ...written });
    const listed = after.vehicles?.map((one) => one.source_id);
    expect(listed).toHaveLength((before.vehicles?.length ?? 0) + accepted.length);
    expect(listed).toEqual(expect.arrayContaining(accepted));
    expect(await filesIn('eu', us.accountId)).toHaveLength(4);
    await removeLeft('main');
  },
);

it('copies of evidence that had begun begin again in the other bucket', async () => {
  const us = await world();
  await keepFor(us, 30);
  const bytes = 3 * partBytes;
  media({ '/road.mp4': video(bytes) });
  await crash(us);
  await copyPart(us);
  const of = async (name: string) =>
    rowsIn(name, 'select state, bytes, upload from evidence where account_id = ?1', us.accountId);
  expect((await of('main'))[0]?.upload).not.toBeNull();
  await moveTo(us.accountId, there);
  expect(await of('eu')).toMatchObject([{ upload: null }]);
  await rowsIn('eu', 'update evidence set next_at = 0 where account_id = ?1', us.accountId);
  await copyEvidence(cell('eu'), us.accountId, { until: Date.now() + 60_000, queries: 800 });
  expect(await of('eu')).toMatchObject([{ state: 'stored', bytes }]);
});
