import { env } from 'cloudflare:workers';
import { deletedAccountId } from '#src/core/accounts/accounts.ts';
import { pruneSessions } from '#src/people/prune.ts';
import { sentAlready } from '#src/people/sent-forms.ts';
import { rowsOf } from '#test/support/account-rows.ts';
import {
  type PortalAccount,
  personalPages,
  personalRoutes,
  portalAccountBefore,
} from '#test/support/portal-account.ts';
import { unlimited } from '#test/support/routes.ts';
import { addressIn, ask, newLink, pageAfter, pageOf, rows, through, value } from '#test/support.ts';

type Form = string | ((of: PortalAccount) => string | Promise<string>);

const editedWebhook = async ({ page, at }: PortalAccount) =>
  String(new URLSearchParams((await page(at('/portal/webhooks/:id/edit'))).form().fields()));
const sql = (text: string) => (of: PortalAccount) => rows(text, of.us.accountId);
const again = sql(`update deliveries set status = 'failed' where account_id = ?1`);
const waits = sql(
  `update deliveries set status = 'pending', attempts = 1, next_attempt_at = 8e15 where account_id = ?1`,
);

/** What has to be so before a form is sent. */
const before: Record<string, (of: PortalAccount) => unknown> = {
  '/connections/:id/resume': sql(
    `update pulls set paused_at = 1, due_at = null where account_id = ?1`,
  ),
  '/webhooks/:id/try': waits,
  '/webhooks/:id/replay': again,
  '/webhooks/:id/deliveries/:deliveryId/replay': again,
  '/webhooks/:id/deliveries/:deliveryId/send': waits,
};

const samsara = 'region=&name=Harbor&historyDays=0';
const ofOne = ({ us }: PortalAccount) => `connectionIds=${us.connection.id}`;

const queries: Record<string, string> = {
  '/connections/new': '?provider=samsara',
  '/webhooks/:id/replay': '?which=all',
};

/** What is filled into each form of people who are signed in. What ends more comes last. */
const forms: Record<string, Form> = {
  '/connections/links': 'name=Harbor',
  '/connections/links/:id/revoke': '',
  '/connections/new': (of) => `${samsara}&credential=token-1-${of.us.accountId}`,
  '/connections/own': 'provider=Acme&name=',
  '/connections/:id/keys': 'name=Another&expires=',
  '/connections/:id/labels': 'label=swerve&type=Crash',
  '/connections/:id/pull': '',
  '/connections/:id/pause': '',
  '/connections/:id/resume': '',
  '/connections/:id/webhook-secret': 'secret=c2VjcmV0c2VjcmV0',
  '/connections/:id/external-id': 'externalId=F-1',
  '/connections/:id/warning': 'do=stop',
  '/connections/:id/credential': (of) => `credential=token-2-${of.us.accountId}`,
  '/accidents/:eventId': 'do=acknowledge&note=Called',
  '/vehicles/:id/external-id': 'externalId=V-1',
  '/webhooks/new': (of) =>
    `url=https://receiver.example.com/new&httpVerb=POST&notificationTypes=1&${ofOne(of)}`,
  '/webhooks/:id/edit': editedWebhook,
  '/webhooks/:id/pause': '',
  '/webhooks/:id/resume': '',
  '/webhooks/:id/try': '',
  '/webhooks/:id/test-event': '',
  '/webhooks/:id/test-accident': '',
  '/webhooks/:id/replay': '',
  '/webhooks/:id/signing': 'do=on',
  '/webhooks/:id/deliveries/:deliveryId/replay': '',
  '/webhooks/:id/deliveries/:deliveryId/send': '',
  '/webhooks/:id/delete': '',
  '/connections/:id/remove': 'typed=Marked',
  '/settings/tokens': 'name=Claims&access=&expires=',
  '/settings/tokens/limited': (of) => `name=One&access=&expires=&${ofOne(of)}`,
  '/settings/tokens/:id/revoke': '',
  '/settings/people': (of) => `email=new-${of.us.accountId}@example.com&role=viewer`,
  '/settings/people/:id/role': 'role=member',
  '/settings/people/:id/remove': '',
  '/settings/sign-in': async ({ us, email }) =>
    `issuer=https://sso.example.com&clientId=us&secret=word&role=viewer&domains=a-${us.accountId}.example.com,b-${us.accountId}.example.com&linkUserId=${await value('select id from portal_users where email = ?1', email)}`,
  '/settings/exports': 'lists=trips&formats=csv',
  '/settings/account': 'timeZone=UTC',
  '/settings/account/evidence': 'keep=yes&days=90',
  '/settings/account/units': 'units=imperial',
  '/settings/notifications': 'levels=1&alerts=yes',
  '/settings/notifications/channels/new':
    'kind=https&name=Pager&url=https://pager.example.com/x&levels=1',
  '/settings/notifications/channels/:id': 'kind=https&name=Pager 2&url=',
  '/settings/notifications/channels/:id/test': '',
  '/settings/notifications/channels/:id/remove': '',
};
const ofSessions = ['/sign-out', '/sign-out-everywhere'];

const ours = portalAccountBefore(beforeAll);
const others = portalAccountBefore(beforeAll);
const thirds = portalAccountBefore(beforeAll);

/** What people and the service have made of an account, without what becomes of it behind the response. */
const made = async (of: PortalAccount) => {
  const tables = Object.entries(await rowsOf(of.us.accountId)).filter(
    ([table]) =>
      !/^(?:webhook_h|sent_forms|alert_|mail_|sign_in|changes$|pull_|test_calls)/.test(table),
  );
  return new Map(tables.map(([table, { length }]) => [table, length]));
};

/** Fills in a form of a page once, to be sent as often as wanted, with the key that it has. */
async function filled(of: PortalAccount, pattern: string) {
  await before[pattern]?.(of);
  const form = forms[pattern] ?? '';
  const fields = new URLSearchParams(typeof form === 'string' ? form : await form(of));
  const key = crypto.randomUUID();
  const path = of.at(`/portal${pattern}${queries[pattern] ?? ''}`);
  return (sameKey = key, bindings = unlimited()) => {
    fields.set('key', sameKey);
    return of.post(path, [...fields], { bindings });
  };
}

/** Whether a statement claims a form, for the transaction of what the form asks for. */
const isClaim = ({ text }: { text: string }) => text.includes('into "sent_forms"');

/** Whether a reply leads to a page that says that the form was sent already. */
const isTold = async (reply: Response, { cookie } = ours) =>
  reply.status === 303 && (await (await pageAfter(reply, cookie)).text()).includes(sentAlready);

it('every form of people who are signed in is sent here', () => {
  const posts = personalRoutes.flatMap((route) =>
    route.startsWith('POST ') ? [route.slice(12)] : [],
  );
  expect([...Object.keys(forms), ...ofSessions].toSorted()).toEqual(posts.toSorted());
});

it.each(Object.keys(forms))(
  'POST %s sent twice at once, and again, does it once, and says where the result is',
  async (pattern) => {
    const [first, firstOther] = [await made(ours), await made(others)];
    const send = await filled(ours, pattern);
    const replies = await Promise.all([send(), send()]);
    const third = await send();
    let claims = 0;
    const DB = through(env.DB, (run, statements) => {
      if (statements.some(isClaim)) claims++;
      return run();
    });
    const once = await (await filled(others, pattern))(undefined, { ...unlimited(), DB });
    const said = await Promise.all(replies.map(async (reply) => isTold(reply)));
    expect(said.filter((isTold) => !isTold)).toHaveLength(1);
    expect(await isTold(third)).toBe(true);
    expect((await pageAfter(third, ours.cookie)).status).toBe(200);
    expect(once.status).toBeLessThan(400);
    // One transaction: if it fails the form can be sent again. A test of a channel notes its result as well.
    expect(claims).toBe(pattern.endsWith('/test') ? 2 : 1);
    const grown = (now: Map<string, number>, then: Map<string, number>) =>
      [...now].map(([table, count]) => [table, count - (then.get(table) ?? 0)]);
    expect(grown(await made(ours), first)).toEqual(grown(await made(others), firstOther));
  },
);

/** The tables of what paths of forms name, where these have other names. */
const tables: Record<string, string> = {
  links: 'connect_links',
  people: 'portal_users',
  channels: 'alert_channels',
};

/** Takes what the path of a form names from its account, and what goes with it; or gives it back. */
async function take(pattern: string, accountId: string) {
  const [, kind = '', id] = /(\w+)\/([\w-]{36,})/.exec(thirds.at(pattern)) ?? [];
  const move = (table: string, key: string) =>
    rows(`update ${table} set account_id = ?1 where ${key} = ?2`, accountId, id);
  await move(tables[kind] ?? kind, 'id');
  if (kind === 'connections') await move('pulls', 'connection_id');
}

it.each(Object.keys(forms).filter((pattern) => pattern.includes('/:')))(
  'POST %s, refused because somebody has removed that meanwhile, can be sent again',
  async (pattern) => {
    const send = await filled(thirds, pattern);
    let isTaken = false;
    const DB = through(env.DB, async (run, statements) => {
      if (!isTaken && statements.some(isClaim)) await take(pattern, deletedAccountId);
      isTaken ||= statements.some(isClaim);
      return run();
    });
    const refused = await send(undefined, { ...unlimited(), DB });
    await take(pattern, thirds.us.accountId);
    expect(isTaken).toBe(true);
    expect(refused.headers.get('set-cookie') ?? '').not.toContain(
      encodeURIComponent('"mood":"ok"'),
    );
    const again = await send();
    expect([again.status < 400, await isTold(again, thirds)]).toEqual([true, false]);
  },
);

it.each(['/settings/tokens', '/settings/tokens/limited', '/connections/own'])(
  'a secret of POST %s stands in the response to its form, and nowhere else',
  async (pattern) => {
    const reply = await (await filled(ours, pattern))();
    const stored = JSON.stringify(await rowsOf(ours.us.accountId));
    const page = await pageOf(reply, pattern);
    const [secret = ''] = page.textAt('#token');
    expect(secret).toMatch(/^fd\w_[\w-]{49}$/);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    const { text } = await ours.page(page.links('Continue')[0] ?? '');
    expect(text).toContain(`…${secret.slice(-4)}`);
    expect([...reply.headers, stored, text].join()).not.toContain(secret);
  },
);

it('the button that signs in can be pressed twice, by nobody else, for a minute', async () => {
  const link = await newLink(ours.email);
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
  const [url = ''] = (await pageOf(created, '')).textAt('#link');
  const link = addressIn(url);
  for (const path of [`${link}&provider=samsara`, link.replace('?', '/withdraw?')]) {
    const typed = new URLSearchParams(`${samsara}&credential=token-of-the-fleet`);
    const fields = [...typed, ['key', crypto.randomUUID()]] as [string, string][];
    const press = () => ask('POST', path, { fields });
    for (const reply of await Promise.all([press(), press()]))
      expect(reply.headers.get('location') ?? link).toBe(link);
    expect((await press()).status).toBeLessThan(400);
  }
});

it('a form from a page opened anew, or without a key, is another form', async () => {
  for (const key of [crypto.randomUUID(), crypto.randomUUID(), '', '']) {
    const reply = await ours.post('/portal/connections/links', { name: 'One', key });
    expect([reply.status, await isTold(reply)]).toEqual([200, false]);
  }
});

it('a form that was refused can be sent again, and what it had is kept nowhere', async () => {
  const kept = await rows('select * from sent_forms');
  const typed = { name: '', key: crypto.randomUUID() };
  expect((await ours.post('/portal/settings/tokens', typed)).status).toBe(400);
  expect(await rows('select * from sent_forms')).toEqual(kept);
});

it('each form of a page has a key of its own', async () => {
  for (const path of personalPages.filter((one) => !/csv|file|evidence/.test(one))) {
    const forms = (await ours.page(ours.at(path))).all('form[method=post]');
    const keys = forms.map((form) => form.querySelector('[name=key]')?.getAttribute('value'));
    for (const key of keys) expect(key).toMatch(/^[0-9a-f-]{36}$/);
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
