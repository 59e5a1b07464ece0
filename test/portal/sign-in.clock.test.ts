import { env } from 'cloudflare:workers';
import { base64url } from '#src/core/platform/crypto.ts';
import { newSecret } from '#src/people/secrets.ts';
import { linkMs } from '#src/people/sessions.ts';
import {
  ask,
  changeAccount,
  dayMs,
  keepEmails,
  listenToLog,
  newLink,
  personBefore,
  receiver,
  register,
  rows,
  signIn,
  times,
  value,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll);
const ours = personBefore(beforeAll, us);
beforeAll(() => void receiver());

const statusAt = async (path: string, cookie: string, bindings: Env = env) =>
  (await ask('GET', path, { cookie, bindings })).status;
const requestLink = (fields: Record<string, string>, bindings: Env = env) =>
  ask('POST', '/portal/sign-in', { fields, bindings });

it('a session is a __Host- cookie, of which only the hash is stored', async () => {
  expect(ours.setCookie).toMatch(
    /^__Host-session=[\w-]{65}; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  expect(JSON.stringify(await rows('select * from sessions'))).not.toContain(
    ours.cookie.split('=')[1],
  );
});

it('a session ends with its 14 days, its person, and while its account is suspended', async () => {
  const other = await world();
  const { cookie, email } = await signIn(other);
  const status = () => statusAt('/portal/connections', cookie);
  expect(await status()).toBe(200);
  await changeAccount(other, { status: 'suspended' });
  expect(await status()).toBe(403);
  expect(await (await ask('GET', '/portal', { cookie })).text()).toContain(
    'This account is suspended',
  );
  await changeAccount(other, { status: 'active' });
  expect(await status()).toBe(200);
  await rows('delete from portal_users where email = ?1', email);
  expect(await status()).toBe(303);
  const late = await signIn(other);
  await rows(
    'update sessions set expires_at = 1 where user_id = (select id from portal_users where email = ?1)',
    late.email,
  );
  expect(await statusAt('/portal/connections', late.cookie)).toBe(303);
});

it('a session outlives the rotation of its key, as long as that key is there', async () => {
  const fresh = `new:${btoa('n'.repeat(32))}`;
  const status = (ENCRYPTION_KEYS: string) =>
    statusAt('/portal/connections', ours.cookie, { ...env, ENCRYPTION_KEYS });
  expect(await status(`${fresh},${env.ENCRYPTION_KEYS}`)).toBe(200);
  expect(await status(fresh)).toBe(303);
});

describe('a sign-in link', () => {
  it('is used up only by its button, and expires', async () => {
    const link = await newLink(ours.email);
    expect(await statusAt(link, '')).toBe(200);
    await rows('update sign_in_links set expires_at = ?1', Date.now());
    expect((await ask('POST', link)).status).toBe(400);
  });

  it('is emailed to the person of the address, and nobody else, if mail is sent', async () => {
    const { send, sent } = keepEmails();
    const { lines } = listenToLog();
    const request = async (email: string, bindings: Env = env) => {
      const reply = await requestLink({ email }, bindings);
      return [reply.status, await reply.text()];
    };
    const known = await request(ours.email.toUpperCase());
    const link = /https:\/\/portal\.example\.com\/portal\/sign-in\/link\?secret=[\w-]{65}/;
    expect(sent()).toMatchObject([{ to: ours.email, text: expect.stringMatching(link) }]);
    expect(await request('stranger@example.com')).toEqual(known);
    const links = await value('select count(*) from sign_in_links');
    const without = { ...env, EMAIL_FROM: undefined, EMAIL: undefined } as unknown as Env; // as deployed without
    expect(await request(ours.email, without)).toEqual(known);
    expect(await value('select count(*) from sign_in_links')).toBe(links);
    expect(send).toHaveBeenCalledOnce();
    expect(lines('fault')).toEqual([]);
    expect((await request('no address'))[0]).toBe(400);
  });

  it('is emailed to an address five times in 15 minutes, and twenty times a day', async () => {
    const { email } = await signIn(us);
    const { send } = keepEmails();
    for (const limiter of ['SIGN_IN_LIMIT', 'LINK_REQUEST_LIMIT'] as const)
      vi.spyOn(env[limiter], 'limit').mockResolvedValue({ success: true }); // is each location's
    const pages = new Set<string>();
    async function requestAt(ms: number) {
      vi.spyOn(Date, 'now').mockReturnValue(ms);
      for (let i = 0; i < 6; i++) pages.add(await (await requestLink({ email })).text());
    }
    const begin = Date.now();
    for (const [quarter, emails] of [5, 10, 15, 20, 20].entries()) {
      await requestAt(begin + quarter * linkMs);
      await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(emails), 30_000);
    }
    await requestAt(begin + dayMs);
    await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(25), 30_000);
    expect(pages.size).toBe(1);
  });

  it('is emailed once by a form that is sent twice', async () => {
    const { email } = await signIn(us);
    const { sent } = keepEmails();
    const press = (key: string) => requestLink({ email, key });
    const [first, second] = await Promise.all([press('a key'), press('a key')]);
    expect(await second.text()).toBe(await first.text());
    await press('another key');
    await expect.poll(() => sent().filter(({ to }) => to === email).length).toBe(2);
    const links = `select count(*) from sign_in_links
      where user_id = (select id from portal_users where email = ?1)`;
    expect(await value(links, email)).toBe(2);
  });
});

it('D1 is not asked by junk for a session or for a sign-in link', async () => {
  const asked = vi.spyOn(env.DB, 'prepare');
  const random = base64url(crypto.getRandomValues(new Uint8Array(48)));
  const foreign = { ...env, ENCRYPTION_KEYS: `test:${btoa('k'.repeat(32))}` };
  const junk = async (purpose: 'session' | 'sign-in link', other: typeof purpose) => [
    ...['x', random, await newSecret(foreign, purpose), await newSecret(env, other)],
  ];
  for (const secret of await junk('session', 'sign-in link'))
    expect(await statusAt('/portal/connections', `__Host-session=${secret}`)).toBe(303);
  for (const secret of await junk('sign-in link', 'session'))
    expect((await ask('POST', `/portal/sign-in/link?secret=${secret}`)).status).toBe(400);
  expect(asked).not.toHaveBeenCalled();
  expect(await statusAt('/portal/connections', ours.cookie)).toBe(200);
  expect(asked).toHaveBeenCalled();
});

it('D1 is asked ten times a minute by one link that has been used', async () => {
  const { link } = await signIn(us);
  const tries = await Promise.all(times(30, () => ask('POST', link)));
  expect(tries.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(20);
  expect(tries.some(({ status }) => status === 429)).toBe(true);
  expect((await ask('POST', (await signIn(us)).link)).status).toBe(400);
});

it.each(['ACTION_LIMIT', 'ACCOUNT_ACTION_LIMIT'] as const)(
  'actions in the portal are limited by %s, of each session or of the account',
  async (limiter) => {
    const path = `/portal/webhooks/${(await register(us)).id}`;
    const limit = vi.spyOn(env[limiter], 'limit');
    for (const { get } of [ours, await signIn(us)]) await get(`${path}/replay`);
    const keys = new Set(limit.mock.calls.map(([{ key }]) => key));
    expect(keys.size).toBe(limiter === 'ACTION_LIMIT' ? 2 : 1);
    limit.mockResolvedValue({ success: false });
    for (const action of ['replay', 'test-event', 'test-accident'])
      expect((await ours.post(`${path}/${action}`)).status).toBe(429);
    expect((await ours.post('/portal/webhooks/new', { do: 'test' })).status).toBe(429);
    expect((await ours.get('/portal/webhooks')).status).toBe(200);
  },
);
