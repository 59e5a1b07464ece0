import { env } from 'cloudflare:workers';
import { operatorIn } from '#src/core/accounts/accounts.ts';
import { auditDays, pruneAudit } from '#src/core/accounts/audit/prune.ts';
import { setReceiverLimits } from '#src/core/webhooks/service.ts';
import {
  allPages,
  auditOf,
  changeAccount,
  changeConnection,
  operator,
  register,
  rows,
  signIn,
  value,
  webhookBody,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);
/** What has been noted since the account was opened, or before that too, oldest first, in a few words each. */
const audited = async (from = openings) => {
  const entries = (await auditOf(us)).toReversed().slice(from);
  return entries.map(({ actor, actorName, action, subject, subjectName, fields }) =>
    [actor, actorName, action, subject, subjectName, ...fields]
      .filter((word) => word !== null)
      .join(' '),
  );
};
const openings = 4; // account, token, connection, ingest key

it('the audit log begins with the account, and says what operators did', async () => {
  const key = `select id from tokens where scope = 'ingest' and account_id = ?1`;
  await operator.delete(`/operator/tokens/${await value(key, us.accountId)}`);
  expect(await audited(0)).toEqual([
    'operator created account Acme Insurance',
    'operator created API token main',
    'operator created connection Motive',
    'operator created ingest key connector',
    'operator revoked ingest key connector',
  ]);
});

it('the audit log says which fields a change of a webhook was about', async () => {
  const url = 'https://hooks.example.com/';
  const body = webhookBody(us, { url, headers: { 'X-One': '1', 'X-Two': '2' } });
  const { id } = await register(us, { ...body, allConnections: true });
  const moved = { url: `${url}new`, httpVerb: 'PUT' };
  for (const changes of [
    { allConnections: true },
    { allConnections: true, headers: { 'X-Two': '2', 'X-One': '1' } },
    { ...moved, headers: { 'X-One': '3' } },
    { ...moved, headers: {} },
    { headers: {} },
    { headers: {}, notificationTypes: [2], connectionIds: [] },
  ])
    await us.api.put(`/webhook/${id}`, { ...body, ...changes });
  const noted = (await audited()).map((entry) => entry.replace(/^.*example.com ?/, ''));
  expect(noted).toEqual([
    'allConnections',
    '',
    '',
    'url httpVerb headers allConnections',
    'headers',
    'url httpVerb',
    'notificationTypes connectionIds',
  ]);
});

it('the audit log says which token did what to a webhook, without its path', async () => {
  const body = webhookBody(us, { url: 'https://hooks.example.com:8443/secret?key=secret' });
  const { id } = await register(us, body);
  await us.api.put(`/webhook/${id}`, body);
  await setReceiverLimits(env, operatorIn(us.accountId), id, { maxInFlight: 3 });
  await rows('update webhooks set name = ? where id = ?', 'Claims intake', id);
  await us.api.delete(`/webhook/${id}`);
  expect(await audited()).toEqual([
    'token main created webhook hooks.example.com:8443',
    'token main changed webhook hooks.example.com:8443',
    'operator changed webhook hooks.example.com:8443 maxInFlight',
    'token main deleted webhook Claims intake',
  ]);
  expect(JSON.stringify(await auditOf(us))).not.toContain('secret');
});

it('the audit log says which person did what to people and tokens', async () => {
  const { email, post } = await signIn(us);
  const fields = { email: 'new@example.com', role: 'member' };
  for (let twice = 0; twice < 2; twice++) await post('/portal/settings/people', fields);
  const invited = await value(`select id from portal_users where email = 'new@example.com'`);
  await post(`/portal/settings/people/${invited}/remove`);
  await post('/portal/settings/tokens', { name: 'claims', expires: '' });
  const token = await value(`select id from tokens where name = 'claims'`);
  for (let twice = 0; twice < 2; twice++) await operator.delete(`/operator/tokens/${token}`);
  expect(await audited()).toEqual([
    `operator invited person ${email} role: admin`,
    `person ${email} invited person new@example.com role: member`,
    `person ${email} deleted person new@example.com`,
    `person ${email} created API token claims`,
    'operator revoked API token claims',
  ]);
});

it('the audit log says what of accounts and connections was changed', async () => {
  const changes = { name: 'Long haul', healthStatus: 2 };
  await changeConnection(us.connection.id, changes);
  for (const change of [{ name: 'Acme' }, { status: 'suspended' }, { status: 'active' }])
    await changeAccount(us, change);
  expect(await audited()).toEqual([
    'operator changed connection Long haul name healthStatus',
    'operator changed account Acme name',
    'operator suspended account Acme',
    'operator activated account Acme',
  ]);
});

it('the audit log notes nothing that was refused, or that changed nothing', async () => {
  const unchanged = await changeAccount(us, {});
  expect(unchanged).toMatchObject({ status: 200, data: { status: 'active' } });
  const nothing = crypto.randomUUID();
  await register(us, { connectionIds: [nothing] });
  await us.api.delete(`/webhook/${nothing}`);
  await operator.delete(`/operator/accounts/${us.accountId}/users/${nothing}`);
  await operator.post(`/operator/accounts/${nothing}/tokens`, { name: 'x' });
  expect(await audited()).toEqual([]);
});

it('the audit log shows operators all accounts in order of time, page by page', async () => {
  await rows('delete from audit_log');
  const [first, second] = [await world(), await world()];
  const pages = await allPages((cursor = '') =>
    operator.get<Awaited<ReturnType<typeof auditOf>>>(`/operator/audit?limit=3&cursor=${cursor}`),
  );
  const seen = pages.flatMap(({ data }) =>
    data.map(({ accountId, subject }) => `${accountId} ${subject}`),
  );
  expect(seen).toHaveLength(2 * openings);
  expect(new Set(seen).size).toBe(2 * openings);
  expect(seen[0]).toContain(second.accountId);
  expect(seen.at(-1)).toBe(`${first.accountId} account`);
  expect((await operator.get('/operator/audit?cursor=junk')).status).toBe(400);
});

it('the audit log is kept for a year', async () => {
  await rows('delete from audit_log');
  await world();
  const later = Date.now() + auditDays * 86_400_000;
  expect(await pruneAudit(env, later - 60_000)).toBe(0);
  expect(await pruneAudit(env, later + 60_000)).toBe(openings);
});
