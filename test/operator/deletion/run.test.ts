import { env } from 'cloudflare:workers';
import { through } from '#src/core/platform/db/through.ts';
import { folderOf } from '#src/extras/archive/bucket.ts';
import { continueDeletions } from '#src/operator/deletion/run.ts';
import { settled } from '#test/support/deliveries.ts';
import { findEverywhere, toTheEnd } from '#test/support/erasure.ts';
import { fullAccount } from '#test/support/full-account.ts';
import { listenToLog } from '#test/support/log.ts';
import { signIn } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { type AccountRows, rows, rowsOf } from '#test/support/rows.ts';
import {
  as,
  operator,
  register,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '#test/support/world.ts';

type Deletion = { id: string; kind: string; step: string | null; dueAt: string };
type Progress = { deletion: Deletion | null };

let us: World;
let them: World;
let heard: ReturnType<typeof receiver>;
beforeEach(async () => {
  await rows('delete from deletions');
  heard = receiver();
  [us, them] = [await world({ providers: ['motive', 'samsara'] }), await world()];
});

const records = () => [
  vehicle(),
  driver(),
  trip({ driver: 'driver-1' }),
  safetyEvent({ driver: 'driver-1' }),
  accident(),
];

/** Gives an account something of everything, and waits until it has been delivered. */
async function fill(who: World): Promise<WebhookOut> {
  const webhook = await register(who);
  for (const { ingestKey } of who.connections) await as(ingestKey).send(...records());
  await settled(webhook.id, 2 * who.connections.length);
  return webhook;
}

const remaining = (found: AccountRows) =>
  Object.entries(found).flatMap(([table, list]) => (list.length > 0 ? [table] : []));

const deleteAccount = (who: World, body: object = { name: 'Acme Insurance', now: true }) =>
  operator.post<Progress>(`/operator/accounts/${who.accountId}/deletion`, body);
const deleteConnection = (id: string, name: string) =>
  operator.post<Progress>(`/operator/connections/${id}/deletion`, { name });

it('deleting an account removes all but an entry, and nothing of others', async () => {
  await fill(them);
  const us = await fullAccount();
  const before = await rowsOf(them.accountId);
  await deleteAccount(us);
  await toTheEnd(us.accountId);
  const left = await rowsOf(us.accountId);
  expect(remaining(left)).toEqual(['audit_log']);
  expect(left.audit_log).toMatchObject([
    { action: 'deleted', subject: 'account', subject_name: null },
  ]);
  expect(await findEverywhere(us.connections.map(({ id }) => id))).toEqual([]);
  expect((await env.ARCHIVE?.list())?.objects).toEqual([]);
  expect(await rowsOf(them.accountId)).toEqual(before);
  const keys = await env.TOKENS.list();
  const hashes = (await rows('select hash from tokens')).map(({ hash }) => hash);
  expect(keys.keys.filter(({ name }) => !hashes.includes(name))).toEqual([]);
});

it('deleting an account asks for the very name', async () => {
  const reply = await deleteAccount(us, { name: 'Acme' });
  const message = 'The name does not match. Nothing has been deleted.';
  expect(reply).toMatchObject({ status: 400, message });
  expect((await us.api.get('/connections')).status).toBe(200);
  expect(await rows('select 1 from deletions where id = ?1', us.accountId)).toEqual([]);
  const nobody = '00000000-0000-0000-0000-000000000000';
  const asked = await operator.post(`/operator/accounts/${nobody}/deletion`, { name: 'Nobody' });
  expect(asked.status).toBe(400);
  expect((await operator.patch(`/operator/accounts/${nobody}`, { status: 'active' })).status).toBe(
    400,
  );
});

it('deleting an account refuses and delivers nothing from the moment it is accepted', async () => {
  heard.responds(() => new Response('no', { status: 500 }));
  const webhook = await register(us);
  const { get } = await signIn(us);
  await us.send(...records());
  await deleteAccount(us, { name: 'Acme Insurance' });
  expect((await us.api.get('/connections')).status).toBe(403);
  expect((await us.send(vehicle())).status).toBe(403);
  expect((await get('/portal')).status).toBe(403);
  const sent = heard.got.length;
  const pending = () =>
    rows(`select 1 from deliveries where webhook_id = ?1 and status = 'pending'`, webhook.id);
  // Calls that were under way fail, and their worker cancels what would be tried again.
  await expect.poll(pending, { timeout: 20_000 }).toEqual([]);
  expect(heard.got.length).toBe(sent);
});

it('deleting an account waits for 30 days, and activating it cancels that', async () => {
  const webhook = await fill(us);
  const { data } = await deleteAccount(us, { name: 'Acme Insurance' });
  const days = (Date.parse(data.deletion?.dueAt ?? '') - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
  await continueDeletions(env);
  expect((await operator.get<Deletion[]>('/operator/deletions')).data).toMatchObject([
    { id: us.accountId, kind: 'account', step: null },
  ]);
  await operator.patch(`/operator/accounts/${us.accountId}`, { status: 'active' });
  expect((await operator.get('/operator/deletions')).data).toEqual([]);
  expect((await us.api.get('/connections')).status).toBe(200);
  await us.send(safetyEvent({ sourceId: 'later' }));
  await settled(webhook.id, 5, ['delivered']);
});

it('deleting an account begins after 30 days, and can then not be cancelled', async () => {
  await fill(us);
  await deleteAccount(us, { name: 'Acme Insurance' });
  await rows('update deletions set due_at = 0 where id = ?1', us.accountId);
  await operator.post(`/operator/deletions/${us.accountId}/continue`, {});
  await rows(
    `insert into deletions (id, kind, account_id, requested_at, due_at, step)
    values (?1, 'account', ?1, 0, 0, 'tokens') on conflict do nothing`,
    them.accountId,
  );
  const reply = await operator.patch(`/operator/accounts/${them.accountId}`, { status: 'active' });
  expect(reply.message).toBe('This account is being deleted');
  // What was issued behind its step would keep the account's row for ever.
  const issued = await operator.post(`/operator/accounts/${them.accountId}/tokens`, {
    name: 'late',
  });
  expect(issued.message).toBe('This account is being deleted');
  expect((await deleteAccount(them)).status).toBe(200);
  for (let minutes = 0; minutes < 30; minutes++) await continueDeletions(env);
  expect(await rows('select 1 from deletions')).toEqual([]);
  const ids = [us.accountId, them.accountId];
  expect(await rows('select 1 from accounts where id in (?1, ?2)', ...ids)).toEqual([]);
});

it('deleting a connection makes it unknown at once, with its rows still there', async () => {
  const webhook = await fill(us);
  const [kept, gone] = us.connections;
  const api = us.api;
  const before = await api.get<unknown[]>('/trips');
  expect(before.data).toHaveLength(2);
  await deleteConnection(gone?.id ?? '', 'Samsara');
  expect((await rows('select 1 from trips where connection_id = ?1', gone?.id)).length).toBe(1);
  for (const path of ['/connections', '/trips', '/drivers'])
    expect(JSON.stringify((await api.get(path)).data)).not.toContain(gone?.id);
  expect((await api.get<unknown[]>('/trips')).data).toHaveLength(1);
  const asIt = as(us.apiToken, { 'connection-id': gone?.id ?? '' });
  expect((await asIt.get('/vehicles')).message).toBe('Invalid connection id');
  expect((await as(gone?.ingestKey ?? '').send(vehicle())).status).toBe(401);
  expect((await api.put(`/webhook/${webhook.id}`, webhookBody(us))).message).toBe(
    'Invalid connection ids',
  );
  expect((await api.get<WebhookOut[]>('/webhooks')).data[0]?.connectionIds).toEqual([kept?.id]);
  const changed = await operator.patch(`/operator/connections/${gone?.id}`, { name: 'x' });
  expect(changed.message).toBe('Unknown connection');
  expect((await deleteConnection(gone?.id ?? '', 'Samsara')).message).toBe('Unknown connection');
});

it('deleting a connection removes all of it, and nothing of the other connection', async () => {
  await fill(us);
  const [kept, gone] = us.connections;
  const ofKept = async () =>
    Object.fromEntries(
      Object.entries(await rowsOf(us.accountId)).map(([table, list]) => [
        table,
        list.filter(({ connection_id }) => connection_id === kept?.id),
      ]),
    );
  const before = await ofKept();
  await deleteConnection(gone?.id ?? '', 'Samsara');
  await toTheEnd(gone?.id ?? '');
  const left = await findEverywhere([gone?.id ?? '']);
  expect(left.filter((found) => !/^(audit_log|changes) /.test(found))).toEqual([]);
  expect(await ofKept()).toEqual(before);
  const deliveries = await rows(
    `select 1 from deliveries d join (
       select id, connection_id from safety_events union all select id, connection_id from accidents) r
     on r.id = d.event_id where account_id = ?1 and r.connection_id = ?2`,
    us.accountId,
    kept?.id,
  );
  expect(deliveries).toHaveLength(2);
});

it("is in the account's changes", async () => {
  await fill(us);
  const gone = us.connections[1]?.id ?? '';
  const api = us.api;
  const { resume } = (await api.get('/changes?cursor=now')) as unknown as { resume: string };
  await deleteConnection(gone, 'Samsara');
  const early = await api.get<{ action: string }[]>('/changes');
  expect(JSON.stringify(early.data.filter(({ action }) => action === 'changed'))).not.toContain(
    gone,
  );
  await toTheEnd(gone);
  const { data } = await api.get<{ kind: string; action: string; connectionId: string }[]>(
    `/changes?cursor=${resume}`,
  );
  expect(
    data.filter(({ action, connectionId }) => action !== 'deleted' || connectionId !== gone),
  ).toEqual([]);
  const kinds = 'accident connection driver safetyEvent trip vehicle'.split(' ');
  expect(data.map(({ kind }) => kind).sort()).toEqual(kinds);
});

it('deleting a connection asks for the name, or the provider of one without', async () => {
  await operator.patch(`/operator/connections/${us.connection.id}`, { name: 'Long haul' });
  expect((await deleteConnection(us.connection.id, 'Motive')).status).toBe(400);
  expect((await us.send(vehicle())).status).toBe(200);
  expect((await deleteConnection(us.connection.id, 'Long haul')).status).toBe(200);
});

it('a deletion that fails holds up no other, is named, and goes on later', async () => {
  const { lines } = listenToLog();
  const id = us.connections[1]?.id ?? '';
  const day = { kind: 'trips', accountId: us.accountId, connectionId: id, day: 20_000 };
  const file = `${folderOf(day)}part-${crypto.randomUUID()}.parquet`;
  await env.ARCHIVE.put(file, 'damaged');
  await deleteConnection(id, 'Samsara');
  await deleteAccount(them);
  for (let minutes = 0; minutes < 10; minutes++) await continueDeletions(env);
  const problem = `${file} cannot be read`;
  const failed = {
    id,
    accountId: us.accountId,
    account: 'Acme Insurance',
    problem: expect.stringContaining(problem),
  };
  expect((await operator.get('/operator/deletions')).data).toMatchObject([
    { ...failed, step: 'archive' },
  ]);
  expect((await operator.get('/operator/status')).data).toMatchObject({ deletions: [failed] });
  expect(lines('fault')).toMatchObject([
    { message: 'A deletion failed', deletionId: id, accountId: us.accountId, file },
  ]);
  const again = `/operator/deletions/${id}/continue`;
  expect((await operator.post<Progress>(again, {})).data.deletion).toMatchObject(failed);
  await env.ARCHIVE.delete(file);
  await toTheEnd(id);
  expect((await operator.get('/operator/status')).data).toMatchObject({ deletions: [] });
});

it.each(['account', 'connection'] as const)(
  'a deletion that is killed again and again, of the kind %s, ends all the same',
  async (kind) => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    await fill(us);
    const id = kind === 'account' ? us.accountId : us.connection.id;
    await (kind === 'account' ? deleteAccount(us) : deleteConnection(id, 'Motive'));
    for (let calls = 1; calls < 20; calls++)
      await continueDeletions({ ...env, DB: dyingAfter(calls) }).catch(() => {});
    await toTheEnd(id);
    const left = kind === 'account' ? await rowsOf(id) : {};
    expect(remaining(left).filter((table) => table !== 'audit_log')).toEqual([]);
    const found = await findEverywhere([us.connection.id]);
    expect(found.filter((row) => !/^(audit_log|changes) /.test(row))).toEqual([]);
  },
);

/** A database that dies after so many calls. */
function dyingAfter(calls: number): D1Database {
  let left = calls;
  return through(env.DB, (run) => (left-- > 0 ? run() : Promise.reject(new Error('killed'))));
}
