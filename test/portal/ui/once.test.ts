import { env } from 'cloudflare:workers';
import { pruneCredentials } from '../../../src/accounts/prune.ts';
import { through } from '../../../src/platform/db/through.ts';
import { ask, pageAfter, signIn, textOf } from '../../support/portal.ts';
import { personalRoutes, portalAccount } from '../../support/portal-account.ts';
import { rows, rowsOf, value } from '../../support/rows.ts';
import { operator } from '../../support/world.ts';

type Account = Awaited<ReturnType<typeof portalAccount>>;
type Fields = Record<string, string> | [string, string][];
type Recipe = {
  to?: string;
  fields?: Fields | ((of: Account) => Fields | Promise<Fields>);
  before?: (of: Account) => unknown;
};

const webhook = (of: Account) => ({
  ...{ url: 'https://receiver.example.com/new', httpVerb: 'POST', notificationTypes: '1' },
  connectionIds: of.us.connection.id,
});
const editedWebhook = async ({ page, at }: Account) =>
  (await page(at('/portal/webhooks/:id/edit'))).form().fields();
const sql = (text: string) => (of: Account) => rows(text, of.us.accountId);
const notNow = sql(`update pulls set paused_at = 1, due_at = null where account_id = ?1`);
const again = sql(`update deliveries set status = 'failed' where account_id = ?1`);

const samsara = { region: '', name: 'Harbor', historyDays: '0' };

/** What is filled into each form of people who are signed in, and what has to be so before. What ends more comes last. */
const recipes: Record<string, Recipe> = {
  '/connections/links': { fields: { name: 'Harbor' } },
  '/connections/links/:id/revoke': {},
  '/connections/new': {
    to: '/connections/new?provider=samsara',
    fields: (of) => ({ ...samsara, credential: `token-1-${of.us.accountId}` }),
  },
  '/connections/own': { fields: { provider: 'Acme', name: '' } },
  '/connections/:id/keys': { fields: { name: 'Another', expires: '' } },
  '/connections/:id/labels': { fields: { label: 'swerve', type: 'Crash' } },
  '/connections/:id/pull': {},
  '/connections/:id/pause': {},
  '/connections/:id/resume': { before: notNow },
  '/connections/:id/webhook-secret': { fields: { secret: 'c2VjcmV0c2VjcmV0' } },
  '/connections/:id/external-id': { fields: { externalId: 'F-1' } },
  '/connections/:id/warning': { fields: { do: 'stop' } },
  '/connections/:id/credential': { fields: (of) => ({ credential: `token-2-${of.us.accountId}` }) },
  '/accidents/:eventId': { fields: { do: 'acknowledge', note: 'Called' } },
  '/vehicles/:id/external-id': { fields: { externalId: 'V-1' } },
  '/webhooks/new': { fields: webhook },
  '/webhooks/:id/edit': { fields: editedWebhook },
  '/webhooks/:id/pause': {},
  '/webhooks/:id/resume': {},
  '/webhooks/:id/try': {},
  '/webhooks/:id/test-event': {},
  '/webhooks/:id/test-accident': {},
  '/webhooks/:id/replay': { to: '/webhooks/:id/replay?which=all', before: again },
  '/webhooks/:id/signing': { fields: { do: 'on' } },
  '/webhooks/:id/deliveries/:deliveryId/replay': { before: again },
  '/webhooks/:id/deliveries/:deliveryId/send': {},
  '/webhooks/:id/delete': {},
  '/connections/:id/remove': { fields: { typed: 'Marked' } },
  '/settings/tokens': { fields: { name: 'Claims', access: '', expires: '' } },
  '/settings/tokens/limited': {
    fields: ({ us }) => ({ name: 'One', access: '', expires: '', connectionIds: us.connection.id }),
  },
  '/settings/tokens/:id/revoke': {},
  '/settings/people': { fields: (of) => ({ email: `new-${of.us.accountId}@example.com`, role: 'viewer' }) },
  '/settings/people/:id/role': { fields: { role: 'member' } },
  '/settings/people/:id/remove': {},
  '/settings/sign-in': {
    fields: async ({ us, email }) => ({
      ...{ issuer: 'https://sso.example.com', clientId: 'us', secret: 'word', role: 'viewer' },
      domains: `a-${us.accountId}.example.com, b-${us.accountId}.example.com`,
      linkUserId: String((await rows('select id from portal_users where email = ?1', email))[0]?.id),
    }),
  },
  '/settings/exports': { fields: { lists: 'trips', formats: 'csv' } },
  '/settings/account': { fields: { timeZone: 'UTC' } },
  '/settings/account/evidence': { fields: { keep: 'yes', days: '90' } },
  '/settings/account/units': { fields: { units: 'imperial' } },
  '/settings/notifications': { fields: { levels: '1', alerts: 'yes' } },
  '/settings/notifications/channels/new': {
    fields: { kind: 'https', name: 'Pager', url: 'https://pager.example.com/x', levels: '1' },
  },
  '/settings/notifications/channels/:id': { fields: { kind: 'https', name: 'Pager 2', url: '' } },
  '/settings/notifications/channels/:id/test': {},
  '/settings/notifications/channels/:id/remove': {},
};
const ofSessions = ['/sign-out', '/sign-out-everywhere'];

/** More is asked for here than people may in a minute. */
const enough = { limit: async () => ({ success: true }) };
const unlimited = { ...env, ACTION_LIMIT: enough, ACCOUNT_ACTION_LIMIT: enough };

let ours: Account;
let others: Account;
beforeAll(async () => {
  [ours, others] = [await portalAccount(), await portalAccount()];
});

/** What people and the service have made of an account, without what becomes of it behind the response. */
const made = async (of: Account) =>
  Object.fromEntries(
    Object.entries(await rowsOf(of.us.accountId))
      .filter(
        ([table]) => !/^(?:webhook_h|sent_forms|alert_|mail_|sign_in|changes$|pull_|test_calls)/.test(table),
      )
      .map(([table, all]) => [table, all.length]),
  );

/** Fills in a form of a page once, to be sent as often as wanted, with the key that it has. */
async function filled(of: Account, pattern: string) {
  const { to = pattern, fields = {}, before } = recipes[pattern] ?? {};
  await before?.(of);
  const typed = typeof fields === 'function' ? await fields(of) : fields;
  const pairs = (Array.isArray(typed) ? typed : Object.entries(typed)).filter(([name]) => name !== 'key');
  return (key = 'a key', bindings: Env = unlimited) =>
    ask('POST', of.at(`/portal${to}`), { cookie: of.cookie, fields: [...pairs, ['key', key]], bindings });
}

const leadsTo = (reply: Response) => [
  reply.status,
  reply.headers.get('location'),
  [...new Set(reply.headers.getSetCookie())], // one that lost the race may say the same twice
];

it('every form of people who are signed in is sent here', () => {
  const posts = personalRoutes.flatMap((route) => (route.startsWith('POST ') ? [route.slice(12)] : []));
  expect([...Object.keys(recipes), ...ofSessions].toSorted()).toEqual(posts.toSorted());
});

describe.each(Object.keys(recipes))('POST %s', (pattern) => {
  it('sent twice at once, and again, does it once and leads to the same page', async () => {
    const [before, beforeOther] = [await made(ours), await made(others)];
    const send = await filled(ours, pattern);
    const [first, second] = await Promise.all([send(), send()]);
    const third = await send();
    const once = await (await filled(others, pattern))();
    expect(first.status).toBe(303);
    expect(leadsTo(second)).toEqual(leadsTo(first));
    expect(leadsTo(third)).toEqual(leadsTo(first));
    expect(await textOf(await pageAfter(second, ours.cookie))).not.toContain('sent already');
    expect(once.status).toBe(303);
    const grown = (now: Record<string, number>, then: Record<string, number>) =>
      Object.fromEntries(Object.entries(now).map(([table, count]) => [table, count - (then[table] ?? 0)]));
    expect(grown(await made(ours), before)).toEqual(grown(await made(others), beforeOther));
  });
});

describe('a secret', () => {
  const list = '/settings/tokens';
  const secretOn = async (reply: Response) =>
    /fds_[\w-]{49}/.exec(await (await pageAfter(reply, ours.cookie)).text())?.[0];
  const tokens = () => rows('select * from tokens where account_id = ?1', ours.us.accountId);
  const age = (column: string, ms: number) =>
    rows(`update sent_forms set ${column} = ${column} - ?1 where account_id = ?2`, ms, ours.us.accountId);

  it('is shown to whoever sent the form, once more within a minute, and nowhere else', async () => {
    const send = await filled(ours, list);
    const [first, second] = await Promise.all([send('double'), send('double')]);
    const secret = await secretOn(first);
    expect(secret).toMatch(/^fds_/);
    expect(await secretOn(second)).toBe(secret);
    expect(await secretOn(await send('double'))).toBe(secret);
    for (const reply of [first, second])
      expect(JSON.stringify([...reply.headers]) + (await reply.text())).not.toContain(secret);
    expect(JSON.stringify(await rowsOf(ours.us.accountId))).not.toContain(secret);
    await age('shown_at', 61_000);
    for (const reply of [first, await send('double')]) {
      expect(await secretOn(reply)).toBeUndefined();
      expect(await textOf(await pageAfter(reply, ours.cookie))).toContain('Generated “Claims”.');
    }
  });

  it('that nobody has seen within ten minutes is not shown any more', async () => {
    const reply = await (await filled(ours, list))('late');
    await age('at', 10 * 60_000);
    expect(await secretOn(reply)).toBeUndefined();
  });

  it('is shown to nobody else of the account', async () => {
    const reply = await (await filled(ours, list))('mine');
    const other = await signIn(ours.us);
    const fields = { name: 'Claims', access: '', expires: '', key: 'mine' };
    const theirs = await other.post(`/portal${list}`, fields);
    expect(await secretOn(theirs)).not.toBe(await secretOn(reply));
  });

  it('is shown when the form is sent again after the first request was interrupted', async () => {
    const interrupted = through(env.DB, async (run, statements) => {
      const texts = statements.map(({ text }) => text).join();
      if (/into sent_forms/.test(texts) && !/into tokens/.test(texts)) throw new Error('interrupted');
      return run();
    });
    const before = await tokens();
    const send = await filled(ours, list);
    await send('killed', { ...unlimited, DB: interrupted });
    await age('at', 30_000);
    const reply = await send('killed');
    expect(await secretOn(reply)).toMatch(/^fds_/);
    expect(await textOf(await pageAfter(reply, ours.cookie))).toContain('This form was sent already.');
    expect(await tokens()).toHaveLength(before.length + 1);
  });
});

it('a form whose first request was interrupted leads back to its page, which says so', async () => {
  const send = await filled(ours, '/settings/account/units');
  await send('killed');
  await rows(`update sent_forms set result = null, at = at - 30000 where account_id = ?1`, ours.us.accountId);
  const reply = await send('killed');
  expect(reply.headers.get('location')).toBe('/portal/settings/account');
  expect(await textOf(await pageAfter(reply, ours.cookie))).toContain('Check whether it took effect');
});

it('the button that signs in can be pressed twice, by nobody else, for a minute', async () => {
  const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', { email: ours.email });
  const { pathname } = new URL(data.url);
  const press = (key: string) => ask('POST', pathname, { fields: { key } });
  const [first, second] = await Promise.all([press('k'), press('k')]);
  expect(first.headers.get('location')).toBe('/portal');
  expect(leadsTo(second)).toEqual(leadsTo(first));
  for (const key of ['another', '']) expect((await press(key)).status).toBe(400);
  await rows('update sessions set expires_at = expires_at - 61000');
  expect((await press('k')).status).toBe(400);
});

it('a fleet that presses a button of its connect link twice is led to the same page', async () => {
  const created = await (await filled(ours, '/connections/links'))('of a fleet');
  const shown = await (await pageAfter(created, ours.cookie)).text();
  const link = /id="link"[^>]*>\s*https:\/\/[^/]+(\S+?)\s*</.exec(shown)?.[1] ?? '';
  const fields = { ...samsara, credential: 'token-of-the-fleet', key: 'k' };
  for (const path of [`${link}?provider=samsara`, `${link}/withdraw`]) {
    const press = () => ask('POST', path, { fields });
    const [first, second] = await Promise.all([press(), press()]);
    expect(first.headers.get('location')).toBe(link);
    expect(leadsTo(second)).toEqual(leadsTo(first));
    expect(leadsTo(await press())).toEqual(leadsTo(first));
  }
});

it('a form with another field, or from a page opened anew, is another form', async () => {
  const count = () =>
    value<number>('select count(*) from connect_links where account_id = ?1', ours.us.accountId);
  const before = await count();
  for (const [name, key] of [
    ['One', 'k'],
    ['Two', 'k'],
    ['One', 'l'],
    ['One', ''],
    ['One', ''],
  ] as const)
    await ours.post('/portal/connections/links', { name, key });
  expect(await count()).toBe(before + 5);
});

it('a form that was refused can be sent again, and what it had is kept nowhere', async () => {
  const kept = await rows('select * from sent_forms');
  const refused = await ours.post('/portal/settings/tokens', { name: '', key: 'k' });
  expect(refused.status).toBe(400);
  expect(await rows('select * from sent_forms')).toEqual(kept);
});

it('each form of a page has a key of its own', async () => {
  for (const route of personalRoutes.filter((one) => one.startsWith('GET ') && !/csv|file/.test(one))) {
    const page = await ours.html(ours.at(route.slice(4)));
    const forms = page.match(/<form[^>]*method="post"[\s\S]*?<\/form>/g) ?? [];
    const keys = forms.map((form) => / name="key" value="([0-9a-f-]{36})"/.exec(form)?.[1]);
    expect(keys).not.toContain(undefined);
    expect(new Set(keys).size).toBe(keys.length);
  }
});

it('what is kept of forms is gone after an hour', async () => {
  const setAge = (ms: number) => rows('update sent_forms set at = ?1', Date.now() - ms);
  await (await filled(ours, '/settings/account/units'))('old');
  await setAge(59 * 60_000);
  await pruneCredentials(env);
  expect(await rows('select 1 from sent_forms')).not.toEqual([]);
  await setAge(60 * 60_000);
  await pruneCredentials(env);
  expect(await rows('select 1 from sent_forms')).toEqual([]);
});
