import { env } from 'cloudflare:workers';
import { pruneSessions } from '#src/people/prune.ts';
import { sentAlready } from '#src/people/sent-forms.ts';
import { addressIn, ask, pageAfter } from '#test/support/portal.ts';
import { personalRoutes, portalAccount } from '#test/support/portal-account.ts';
import { rows, rowsOf, value } from '#test/support/rows.ts';
import { operator } from '#test/support/world.ts';

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
const waits = sql(
  `update deliveries set status = 'pending', attempts = 1, next_attempt_at = 8e15 where account_id = ?1`,
);
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
  '/webhooks/:id/try': { before: waits },
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
  '/settings/people': {
    fields: (of) => ({ email: `new-${of.us.accountId}@example.com`, role: 'viewer' }),
  },
  '/settings/people/:id/role': { fields: { role: 'member' } },
  '/settings/people/:id/remove': {},
  '/settings/sign-in': {
    fields: async ({ us, email }) => ({
      ...{ issuer: 'https://sso.example.com', clientId: 'us', secret: 'word', role: 'viewer' },
      domains: `a-${us.accountId}.example.com, b-${us.accountId}.example.com`,
      linkUserId: String(
        (await rows('select id from portal_users where email = ?1', email))[0]?.id,
      ),
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
        ([table]) =>
          !/^(?:webhook_h|sent_forms|alert_|mail_|sign_in|changes$|pull_|test_calls)/.test(table),
      )
      .map(([table, all]) => [table, all.length]),
  );

/** Fills in a form of a page once, to be sent as often as wanted, with the key that it has. */
async function filled(of: Account, pattern: string) {
  const { to = pattern, fields = {}, before } = recipes[pattern] ?? {};
  await before?.(of);
  const typed = typeof fields === 'function' ? await fields(of) : fields;
  const pairs = (Array.isArray(typed) ? typed : Object.entries(typed)).filter(
    ([name]) => name !== 'key',
  );
  const key = crypto.randomUUID();
  return (sameKey = key) =>
    ask('POST', of.at(`/portal${to}`), {
      cookie: of.cookie,
      fields: [...pairs, ['key', sameKey]],
      bindings: unlimited,
    });
}

/** Whether a reply leads to a page that says that the form was sent already. */
const isTold = async (reply: Response): Promise<boolean> =>
  reply.status === 303 &&
  (await (await pageAfter(reply, ours.cookie)).text()).includes(sentAlready);

it('every form of people who are signed in is sent here', () => {
  const posts = personalRoutes.flatMap((route) =>
    route.startsWith('POST ') ? [route.slice(12)] : [],
  );
  expect([...Object.keys(recipes), ...ofSessions].toSorted()).toEqual(posts.toSorted());
});

describe.each(Object.keys(recipes))('POST %s', (pattern) => {
  it('sent twice at once, and again, does it once, and says where the result is', async () => {
    const [before, beforeOther] = [await made(ours), await made(others)];
    const send = await filled(ours, pattern);
    const replies = await Promise.all([send(), send()]);
    const third = await send();
    const once = await (await filled(others, pattern))();
    const said = await Promise.all(replies.map(async (reply) => isTold(reply)));
    expect(said.filter((isTold) => !isTold)).toHaveLength(1);
    expect(await isTold(third)).toBe(true);
    expect((await pageAfter(third, ours.cookie)).status).toBe(200);
    expect(once.status).toBeLessThan(400);
    const grown = (now: Record<string, number>, then: Record<string, number>) =>
      Object.fromEntries(
        Object.entries(now).map(([table, count]) => [table, count - (then[table] ?? 0)]),
      );
    expect(grown(await made(ours), before)).toEqual(grown(await made(others), beforeOther));
  });
});

describe('a secret', () => {
  const secretIn = (page: string) => /fd\w_[\w-]{49}/.exec(page)?.[0];

  it.each(['/settings/tokens', '/settings/tokens/limited', '/connections/own'])(
    'of POST %s stands in the response to its form, and nowhere else',
    async (pattern) => {
      const send = await filled(ours, pattern);
      const reply = await send(crypto.randomUUID());
      const page = await reply.text();
      const secret = secretIn(page);
      expect(secret).toBeDefined();
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(JSON.stringify([...reply.headers])).not.toContain(secret);
      expect(JSON.stringify(await rowsOf(ours.us.accountId))).not.toContain(secret);
      const next = /href="([^"]*)">Continue/.exec(page)?.[1] ?? '';
      expect(await ours.html(next)).toContain(`…${secret?.slice(-4)}`);
      expect(await ours.html(next)).not.toContain(secret);
    },
  );

  it('is not shown again to whoever sends its form again, who is told so', async () => {
    const send = await filled(ours, '/settings/tokens');
    const sameKey = crypto.randomUUID();
    await send(sameKey);
    const again = await send(sameKey);
    expect(again.headers.get('location')).toBe('/portal/settings/tokens');
    const page = await (await pageAfter(again, ours.cookie)).text();
    expect(page).toContain(sentAlready);
    expect(secretIn(page)).toBeUndefined();
  });
});

it('the button that signs in can be pressed twice, by nobody else, for a minute', async () => {
  const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', {
    email: ours.email,
  });
  const link = addressIn(data.url);
  const press = (key: string) => ask('POST', link, { fields: { key } });
  const [first, second] = await Promise.all([press('k'), press('k')]);
  expect(first.headers.get('location')).toBe('/portal');
  expect(second.headers.getSetCookie()).toEqual(first.headers.getSetCookie());
  for (const key of ['another', '']) expect((await press(key)).status).toBe(400);
  await rows('update sessions set expires_at = expires_at - 61000');
  expect((await press('k')).status).toBe(400);
});

it('a fleet that presses a button of its connect link twice is led to the same page', async () => {
  const created = await (await filled(ours, '/connections/links'))(crypto.randomUUID());
  const link = /id="link"[^>]*>\s*https:\/\/[^/]+(\S+?)\s*</.exec(await created.text())?.[1] ?? '';
  for (const path of [`${link}&provider=samsara`, link.replace('?', '/withdraw?')]) {
    const fields = { ...samsara, credential: 'token-of-the-fleet', key: crypto.randomUUID() };
    const press = () => ask('POST', path, { fields });
    const replies = await Promise.all([press(), press()]);
    for (const reply of replies) expect(reply.headers.get('location') ?? link).toBe(link);
    expect((await press()).status).toBeLessThan(400);
    expect((await Promise.all(replies.map(isTold))).filter((isTold) => !isTold)).toHaveLength(1);
  }
});

it('a form from a page opened anew, or without a key, is another form', async () => {
  const count = () =>
    value<number>('select count(*) from connect_links where account_id = ?1', ours.us.accountId);
  const before = await count();
  for (const sent of [crypto.randomUUID(), crypto.randomUUID(), '', ''])
    await ours.post('/portal/connections/links', { name: 'One', key: sent });
  expect(await count()).toBe(before + 4);
});

it('a form that was refused can be sent again, and what it had is kept nowhere', async () => {
  const kept = await rows('select * from sent_forms');
  const refused = await ours.post('/portal/settings/tokens', {
    name: '',
    key: crypto.randomUUID(),
  });
  expect(refused.status).toBe(400);
  expect(await rows('select * from sent_forms')).toEqual(kept);
});

it('each form of a page has a key of its own', async () => {
  for (const route of personalRoutes.filter(
    (one) => one.startsWith('GET ') && !/csv|file/.test(one),
  )) {
    const page = await ours.html(ours.at(route.slice(4)));
    const forms = page.match(/<form[^>]*method="post"[\s\S]*?<\/form>/g) ?? [];
    const keys = forms.map((form) => / name="key" value="([0-9a-f-]{36})"/.exec(form)?.[1]);
    expect(keys).not.toContain(undefined);
    expect(new Set(keys).size).toBe(keys.length);
  }
});

it('what is kept of forms is gone after an hour', async () => {
  const setAge = (ms: number) => rows('update sent_forms set at = ?1', Date.now() - ms);
  await (await filled(ours, '/settings/account/units'))(crypto.randomUUID());
  await setAge(59 * 60_000);
  await pruneSessions(env);
  expect(await rows('select 1 from sent_forms')).not.toEqual([]);
  await setAge(60 * 60_000);
  await pruneSessions(env);
  expect(await rows('select 1 from sent_forms')).toEqual([]);
});
