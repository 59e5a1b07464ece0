import { env } from 'cloudflare:workers';
import { folderOf } from '#src/extras/archive/bucket.ts';
import { nextRows } from '#src/operator/deletion/rows.ts';
import { continueDeletions } from '#src/operator/deletion/run.ts';
import { tables } from '#src/operator/deletion/tables.ts';
import { changes } from '#test/extras/changes/support.ts';
import { rowsOf } from '#test/support/account-rows.ts';
import { fullAccount } from '#test/support/full-account.ts';
import {
  accident,
  addRows,
  as,
  changeConnection,
  driver,
  findEverywhere,
  invalid,
  listenToLog,
  operator,
  receiver,
  register,
  rows,
  safetyEvent,
  settled,
  tableNames,
  toTheEnd,
  trip,
  vehicle,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '#test/support.ts';

let us: World;
let them: World;
let heard: ReturnType<typeof receiver>;
beforeEach(async () => {
  await rows('delete from deletions');
  heard = receiver();
  [us, them] = [await world('motive', 'samsara'), await world()];
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

type Progress = { deletion: { dueAt: string } | null };
const deleteAccount = (who: World, body: object = { name: 'Acme Insurance', now: true }) =>
  operator.post<Progress>(`/operator/accounts/${who.accountId}/deletion`, body);
const deleteConnection = (id = '', name = 'Samsara') =>
  operator.post<Progress>(`/operator/connections/${id}/deletion`, { name });
const activate = (accountId: string) =>
  operator.patch(`/operator/accounts/${accountId}`, { status: 'active' });
const listed = async () => (await operator.get('/operator/deletions')).data;

it('deleting an account removes all but an entry, and nothing of others', async () => {
  await fill(them);
  const us = await fullAccount();
  const before = await rowsOf(them.accountId);
  await deleteAccount(us);
  await toTheEnd(us.accountId);
  const left = Object.entries(await rowsOf(us.accountId)).filter(([, { length }]) => length > 0);
  expect(left).toMatchObject([
    ['audit_log', [{ action: 'deleted', subject: 'account', subject_name: null }]],
  ]);
  expect(await findEverywhere(us.connections.map(({ id }) => id))).toEqual([]);
  expect((await env.ARCHIVE?.list())?.objects).toEqual([]);
  expect(await rowsOf(them.accountId)).toEqual(before);
  const keys = await env.TOKENS.list();
  const hashes = (await rows('select hash from tokens')).map(({ hash }) => hash);
  expect(keys.keys.filter(({ name }) => !hashes.includes(name))).toEqual([]);
});

it('deleting an account asks for the very name', async () => {
  expect(await deleteAccount(us, { name: 'Acme' })).toMatchObject(
    invalid('The name does not match. Nothing has been deleted.'),
  );
  expect((await us.api.get('/connections')).status).toBe(200);
  expect(await listed()).toEqual([]);
  const nobody = '00000000-0000-0000-0000-000000000000';
  const asked = await operator.post(`/operator/accounts/${nobody}/deletion`, { name: 'Nobody' });
  expect([asked.status, (await activate(nobody)).status]).toEqual([400, 400]);
});

it('deleting an account refuses and delivers nothing from the moment it is accepted', async () => {
  heard.returns(500);
  const webhook = await register(us);
  await us.send(...records());
  await deleteAccount(us, { name: 'Acme Insurance' });
  expect((await us.send(vehicle())).status).toBe(403);
  const sent = heard.got.length;
  const pending = () =>
    rows(`select 1 from deliveries where webhook_id = ?1 and status = 'pending'`, webhook.id);
  // Calls that were under way fail, and their worker cancels what would be tried again.
  await expect.poll(pending).toEqual([]);
  expect(heard.got.length).toBe(sent);
});

it('deleting an account waits for 30 days, and activating it cancels that', async () => {
  const webhook = await fill(us);
  const { data } = await deleteAccount(us, { name: 'Acme Insurance' });
  const days = (Date.parse(data.deletion?.dueAt ?? '') - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
  await continueDeletions(env);
  expect(await listed()).toMatchObject([{ id: us.accountId, kind: 'account', step: null }]);
  await activate(us.accountId);
  expect(await listed()).toEqual([]);
  expect((await us.api.get('/connections')).status).toBe(200);
  await us.send(safetyEvent({ sourceId: 'later' }));
  await settled(webhook.id, 5, 'delivered');
});

it('deleting an account begins after 30 days, and can then not be cancelled', async () => {
  await fill(us);
  await deleteAccount(us, { name: 'Acme Insurance' });
  await rows(`update deletions set due_at = 0, step = 'tokens'`); // it has begun
  const refused = { status: 400, message: 'This account is being deleted' };
  expect(await activate(us.accountId)).toMatchObject(refused);
  // What was issued behind its step would keep the account's row for ever.
  const tokens = `/operator/accounts/${us.accountId}/tokens`;
  expect(await operator.post(tokens, { name: 'late' })).toMatchObject(refused);
  expect((await deleteAccount(us)).status).toBe(200);
  for (let minutes = 0; minutes < 30; minutes++) await continueDeletions(env);
  expect(await listed()).toEqual([]);
  expect(await rows('select 1 from accounts where id = ?1', us.accountId)).toEqual([]);
});

it('deleting a connection makes it unknown at once, with its rows still there', async () => {
  const webhook = await fill(us);
  const [kept, gone] = us.connections;
  const { api } = us;
  const trips = async () => (await api.get<unknown[]>('/trips')).data.length;
  expect(await trips()).toBe(2);
  await deleteConnection(gone?.id);
  expect(await rows('select 1 from trips where connection_id = ?1', gone?.id)).toHaveLength(1);
  expect(await trips()).toBe(1);
  for (const path of ['/connections', '/trips', '/drivers'])
    expect(JSON.stringify((await api.get(path)).data)).not.toContain(gone?.id);
  const asIt = as(us.apiToken, { 'connection-id': gone?.id ?? '' });
  expect((await asIt.get('/vehicles')).message).toBe('Invalid connection id');
  expect((await as(gone?.ingestKey ?? '').send(vehicle())).status).toBe(401);
  expect((await api.put(`/webhook/${webhook.id}`, webhookBody(us))).message).toBe(
    'Invalid connection ids',
  );
  expect((await api.get<WebhookOut[]>('/webhooks')).data[0]?.connectionIds).toEqual([kept?.id]);
  for (const { message } of [
    await changeConnection(gone?.id, { name: 'x' }),
    await deleteConnection(gone?.id),
  ])
    expect(message).toBe('Unknown connection');
});

it('deleting a connection removes all of it, says so in the changes, and keeps the other', async () => {
  await fill(us);
  const [kept, { id: gone } = { id: '' }] = us.connections;
  const ofKept = async () => {
    const tables = Object.values(await rowsOf(us.accountId));
    return tables.map((list) => list.filter((row) => row.connection_id === kept?.id));
  };
  const before = await ofKept();
  const { resume } = await changes(us.apiToken, 'cursor=now');
  await deleteConnection(gone);
  const early = (await changes(us.apiToken)).data.filter(({ action }) => action === 'changed');
  expect(JSON.stringify(early)).not.toContain(gone);
  await toTheEnd(gone);
  const left = await findEverywhere([gone]);
  expect(left.filter((found) => !/^(audit_log|changes) /.test(found))).toEqual([]);
  expect(await ofKept()).toEqual(before);
  expect(
    await rows(
      `select 1 from deliveries where account_id = ?1 and status = 'delivered'`,
      us.accountId,
    ),
  ).toHaveLength(2);
  const { data } = await changes(us.apiToken, `cursor=${resume}`);
  const kinds = ['accident', 'connection', 'driver', 'safetyEvent', 'trip', 'vehicle'];
  expect(data.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toMatchObject(
    kinds.map((kind) => ({ kind, action: 'deleted', connectionId: gone })),
  );
});

it('deleting a connection asks for the name, or the provider of one without', async () => {
  await changeConnection(us.connection.id, { name: 'Long haul' });
  expect((await deleteConnection(us.connection.id, 'Motive')).status).toBe(400);
  expect((await deleteConnection(us.connection.id, 'Long haul')).status).toBe(200);
});

it('a deletion that fails holds up no other, is named, and goes on later', async () => {
  const { lines } = listenToLog();
  const id = us.connections[1]?.id ?? '';
  const day = { kind: 'trips', accountId: us.accountId, connectionId: id, day: 20_000 };
  const file = `${folderOf(day)}part-${crypto.randomUUID()}.parquet`;
  await env.ARCHIVE.put(file, 'damaged');
  await deleteConnection(id);
  await deleteAccount(them);
  for (let minutes = 0; minutes < 10; minutes++) await continueDeletions(env);
  const problem = expect.stringContaining(`${file} cannot be read`);
  const failed = { id, accountId: us.accountId, account: 'Acme Insurance', problem };
  expect(await listed()).toMatchObject([{ ...failed, step: 'archive' }]);
  const { data } = await operator.get('/operator/status');
  expect(data).toMatchObject({ deletions: [failed] });
  expect(lines('fault')).toMatchObject([
    { message: 'A deletion failed', deletionId: id, accountId: us.accountId, file },
  ]);
  const again = `/operator/deletions/${id}/continue`;
  expect((await operator.post<Progress>(again, {})).data.deletion).toMatchObject(failed);
  await env.ARCHIVE.delete(file);
  await toTheEnd(id);
  expect(await listed()).toEqual([]);
});

/** Tables that belong to the service, or whose rows the last step or triggers delete. */
const others = 'accounts database_sizes deletions jobs moves names sweeps test_calls'.split(' ');

/** The rows of an account in a table, page by page. */
async function pagesOf(name: string, accountId: string, limit: number) {
  const table = tables.find((one) => one.name === name);
  if (!table) throw new Error(`there is no table ${name}`);
  const pages: Awaited<ReturnType<typeof nextRows>>[] = [];
  do pages.push(await nextRows(env, table, accountId, pages.at(-1)?.next, limit));
  while (pages.at(-1)?.next);
  return pages.map(({ rows }) => rows);
}

it('names every table that may have rows of accounts', async () => {
  expect([...tables.map(({ name }) => name), ...others].sort()).toEqual(await tableNames());
});

it('finds the rows of each by its key or an index, but scans two', () => {
  const scanned = tables.filter(({ isScanned }) => isScanned);
  expect(scanned.map(({ name }) => name)).toEqual(['fan_outs', 'notifications']);
});

it('has tables after those that they refer to', async () => {
  const names = tables.map(({ name }) => name);
  for (const name of names)
    for (const { parent } of await rows<{ parent: string }>(
      'select "table" as parent from pragma_foreign_key_list(?1)',
      name,
    ))
      expect([...names.slice(0, names.indexOf(name)), 'accounts']).toContain(parent);
});

it('pages through every row once, whatever the order in which its owners were created', async () => {
  const us = await world();
  const ids = ['c', 'a', 'b'].map((letter) => `${letter}-${us.accountId}`);
  await addRows('portal_users', 3, (i) => ({
    ...{ id: ids[i], account_id: us.accountId, email: `${i}@example.com`, created_at: i },
  }));
  await addRows('sessions', 9, (i) => ({ hash: `hash-${i}-${us.accountId}`, user_id: ids[i % 3] }));
  const seen = (await pagesOf('sessions', us.accountId, 2)).flat().map(({ hash }) => hash);
  expect(seen).toHaveLength(9);
  expect(new Set(seen).size).toBe(9);
});

it.each([
  ['drivers', 'id', 'name', {}],
  ['notifications', 'event_id', 'data', { type: 2 }],
])(
  'pages of long rows of %s are such that a Worker can hold them',
  async (name, id, long, more) => {
    const us = await world();
    const own = { account_id: us.accountId, connection_id: us.connection.id };
    await addRows(name, 200, (i) => ({ ...own, ...more, [id]: `${name}-${i}`, [long]: '[]' }));
    await rows(`update ${name} set ${long} = json_quote(hex(zeroblob(49000)))`);
    const pages = await pagesOf(name, us.accountId, 150);
    expect(new Set(pages.flat().map((row) => row[id])).size).toBe(200);
    const sizes = pages.map((page) => JSON.stringify(page).length);
    expect(Math.max(...sizes)).toBeLessThan(8_000_000);
    expect(sizes.filter((size) => size > 2)).toHaveLength(3);
  },
);
