import { env } from 'cloudflare:workers';
import { operatorIn } from '#src/core/accounts/accounts.ts';
import { auditDays, pruneAudit } from '#src/core/accounts/audit/prune.ts';
import { setReceiverLimits } from '#src/core/webhooks/service.ts';
import { signIn } from '#test/support/portal.ts';
import { rows, value } from '#test/support/rows.ts';
import {
  allPages,
  operator,
  register,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '#test/support/world.ts';

type Entry = {
  actor: string;
  actorName: string | null;
  action: string;
  subject: string;
  subjectId: string;
  subjectName: string | null;
  fields: string[];
};

const log = async ({ accountId }: World) =>
  (await operator.get<Entry[]>(`/operator/accounts/${accountId}/audit`)).data;

/** What has been noted since the account was opened, or before that too, oldest first, in a few words each. */
const audited = async (us: World, from = openings) => {
  const entries = (await log(us)).toReversed().slice(from);
  return entries.map(({ actor, actorName, action, subject, subjectName, fields }) =>
    [actor, actorName, action, subject, subjectName, ...fields]
      .filter((word) => word !== null)
      .join(' '),
  );
};
const openings = 4; // account, token, connection, ingest key

it('the audit log begins with the account, and says what operators did', async () => {
  const us = await world();
  const key = `select id from tokens where scope = 'ingest' and account_id = ?1`;
  await operator.delete(`/operator/tokens/${await value(key, us.accountId)}`);
  expect(await audited(us, 0)).toEqual([
    'operator created account Acme Insurance',
    'operator created API token main',
    'operator created connection Motive',
    'operator created ingest key connector',
    'operator revoked ingest key connector',
  ]);
});

it('the audit log says which fields a change of a webhook was about', async () => {
  const us = await world({ providers: ['motive', 'samsara'] });
  const headers = { 'X-One': '1', 'X-Two': '2' };
  const body = webhookBody(us, { url: 'https://hooks.example.com/', headers });
  const { data } = await us.api.post<WebhookOut>('/webhook', body);
  const put = (changes: object) => us.api.put(`/webhook/${data.id}`, { ...body, ...changes });
  await put({});
  await put({ headers: { 'X-Two': '2', 'X-One': '1' } });
  await put({ url: 'https://hooks.example.com/new', httpVerb: 'PUT', headers: { 'X-One': '3' } });
  await put({ url: 'https://hooks.example.com/new', httpVerb: 'PUT', headers: {} });
  await put({ headers: {}, allConnections: true });
  await put({ headers: {}, notificationTypes: [2], connectionIds: [us.connection.id] });
  const fields = (await log(us))
    .filter(({ action }) => action === 'changed')
    .map((entry) => entry.fields);
  expect(fields.toReversed()).toEqual([
    [],
    [],
    ['url', 'httpVerb', 'headers'],
    ['headers'],
    ['url', 'httpVerb', 'allConnections'],
    ['notificationTypes', 'allConnections', 'connectionIds'],
  ]);
});

it('the audit log says which token did what to a webhook, without its path', async () => {
  const us = await world();
  const api = us.api;
  const body = webhookBody(us, { url: 'https://hooks.example.com:8443/secret?key=secret' });
  const { data } = await api.post<WebhookOut>('/webhook', body);
  await api.put(`/webhook/${data.id}`, body);
  await setReceiverLimits(env, operatorIn(us.accountId), data.id, { maxInFlight: 3 });
  await rows('update webhooks set name = ? where id = ?', 'Claims intake', data.id);
  await api.delete(`/webhook/${data.id}`);
  expect(await audited(us)).toEqual([
    'token main created webhook hooks.example.com:8443',
    'token main changed webhook hooks.example.com:8443',
    'operator changed webhook hooks.example.com:8443 maxInFlight',
    'token main deleted webhook Claims intake',
  ]);
  expect(JSON.stringify(await log(us))).not.toContain('secret');
});

it('the audit log says which person did what to people and tokens', async () => {
  const us = await world();
  const { email, post } = await signIn(us);
  const fields = { email: 'new@example.com', role: 'member' };
  for (let twice = 0; twice < 2; twice++) await post('/portal/settings/people', fields);
  const [invited] = await rows(`select id from portal_users where email = 'new@example.com'`);
  await post(`/portal/settings/people/${invited?.id}/remove`);
  await post('/portal/settings/tokens', { name: 'claims', expires: '' });
  const token = await value(
    `select id from tokens where name = 'claims' and account_id = ?1`,
    us.accountId,
  );
  for (let twice = 0; twice < 2; twice++) await operator.delete(`/operator/tokens/${token}`);
  expect(await audited(us)).toEqual([
    `operator invited person ${email} role: admin`,
    `person ${email} invited person new@example.com role: member`,
    `person ${email} deleted person new@example.com`,
    `person ${email} created API token claims`,
    'operator revoked API token claims',
  ]);
});

it('the audit log says what of accounts and connections was changed', async () => {
  const us = await world();
  await operator.patch(`/operator/connections/${us.connection.id}`, {
    name: 'Long haul',
    healthStatus: 2,
  });
  await operator.patch(`/operator/accounts/${us.accountId}`, { name: 'Acme' });
  await operator.patch(`/operator/accounts/${us.accountId}`, { status: 'suspended' });
  await operator.patch(`/operator/accounts/${us.accountId}`, { status: 'active' });
  expect(await audited(us)).toEqual([
    'operator changed connection Long haul name healthStatus',
    'operator changed account Acme name',
    'operator suspended account Acme',
    'operator activated account Acme',
  ]);
  const { data } = await operator.get<{ id: string; name: string }[]>('/operator/accounts');
  expect(data.find(({ id }) => id === us.accountId)?.name).toBe('Acme');
});

it('the audit log notes nothing that was refused, or that changed nothing', async () => {
  const us = await world();
  const unchanged = await operator.patch(`/operator/accounts/${us.accountId}`, {});
  expect(unchanged).toMatchObject({ status: 200, data: { status: 'active' } });
  const api = us.api;
  await register(us, { connectionIds: [crypto.randomUUID()] });
  await api.delete(`/webhook/${crypto.randomUUID()}`);
  await operator.delete(`/operator/accounts/${us.accountId}/users/${crypto.randomUUID()}`);
  await operator.post(`/operator/accounts/${crypto.randomUUID()}/tokens`, { name: 'x' });
  expect(await audited(us)).toEqual([]);
});

it('the audit log is shown in the portal page by page', async () => {
  const us = await world();
  const { html } = await signIn(us);
  await rows(
    `with recursive n (i) as (select 100 union all select i + 1 from n where i < 250)
     insert into audit_log (account_id, seq, at, actor, action, subject, subject_id, subject_name)
     select ?1, i, 0, 'operator', 'created', 'API token', 't' || i, 'token-' || i || '!' from n`,
    us.accountId,
  );
  const pages: string[] = [];
  for (let query: string | undefined = ''; query !== undefined; ) {
    const page: string = await html(`/portal/settings/audit${query}`);
    pages.push(page);
    query = /href="\/portal\/settings\/audit(\?cursor=[^"]+)"/.exec(page)?.[1];
  }
  const seen = pages.flatMap((page) =>
    [...page.matchAll(/token-(\d+)!/g)].map(([, i]) => Number(i)),
  );
  expect(seen).toEqual(Array.from({ length: 151 }, (_, i) => 250 - i));
});

it('the audit log shows operators all accounts in order of time, page by page', async () => {
  await rows('delete from audit_log');
  const [us, them] = [await world(), await world()];
  const pages = await allPages((cursor = '') =>
    operator.get<(Entry & { accountId: string })[]>(
      `/operator/audit?limit=3${cursor && `&cursor=${cursor}`}`,
    ),
  );
  const seen = pages.flatMap(({ data }) =>
    data.map(({ accountId, subject }) => `${accountId} ${subject}`),
  );
  expect(seen).toHaveLength(2 * openings);
  expect(new Set(seen).size).toBe(2 * openings);
  expect(seen[0]).toContain(them.accountId);
  expect(seen.at(-1)).toBe(`${us.accountId} account`);
  expect((await operator.get('/operator/audit?cursor=junk')).status).toBe(400);
});

it('the audit log is kept for a year', async () => {
  await rows('delete from audit_log');
  await world();
  const later = Date.now() + auditDays * 86_400_000;
  expect(await pruneAudit(env, later - 60_000)).toBe(0);
  expect(await pruneAudit(env, later + 60_000)).toBe(openings);
});
