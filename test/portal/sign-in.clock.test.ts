import { env } from 'cloudflare:workers';
import { base64url } from '#src/core/platform/crypto.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { newSecret } from '#src/people/secrets.ts';
import { linkMs } from '#src/people/sessions.ts';
import { keepEmails } from '#test/support/emails.ts';
import { listenToLog } from '#test/support/log.ts';
import { addressIn, ask, personBefore, signIn, visitor } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { rows, value } from '#test/support/rows.ts';
import { operator, register, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);
const ours = personBefore(beforeAll, us);
beforeAll(() => void receiver());

const statusAt = async (path: string, cookie: string) =>
  (await ask('GET', path, { cookie })).status;

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
  await operator.patch(`/operator/accounts/${other.accountId}`, { status: 'suspended' });
  expect(await status()).toBe(403);
  expect(await visitor(() => cookie).textAt('/portal/vehicles')).toContain(
    'This account is suspended',
  );
  await operator.patch(`/operator/accounts/${other.accountId}`, { status: 'active' });
  expect(await status()).toBe(200);
  const users = `/operator/accounts/${other.accountId}/users`;
  const { data } = await operator.get<{ id: string; email: string }[]>(users);
  await operator.delete(`${users}/${data.find((user) => user.email === email)?.id}`);
  expect(await status()).toBe(303);
  const late = await signIn(other);
  const theirs = 'select id from portal_users where account_id = ?1';
  await rows(`update sessions set expires_at = 1 where user_id in (${theirs})`, other.accountId);
  expect(await statusAt('/portal/connections', late.cookie)).toBe(303);
});

it('a session outlives the rotation of its key, as long as that key is there', async () => {
  const fresh = `new:${btoa('n'.repeat(32))}`;
  const status = async (ENCRYPTION_KEYS: string) => {
    const bindings = { ...env, ENCRYPTION_KEYS };
    return (await ask('GET', '/portal/connections', { cookie: ours.cookie, bindings })).status;
  };
  expect(await status(`${fresh},${env.ENCRYPTION_KEYS}`)).toBe(200);
  expect(await status(fresh)).toBe(303);
});

describe('a sign-in link', () => {
  it('is used up only by its button, and expires after 15 minutes', async () => {
    const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', {
      email: ours.email,
    });
    const link = addressIn(data.url);
    expect(await statusAt(link, '')).toBe(200);
    const left = await value<number>('select max(expires_at) as at from sign_in_links');
    expect(Math.round(((left ?? 0) - Date.now()) / 60_000)).toBe(15);
    await rows('update sign_in_links set expires_at = ?1', Date.now());
    expect((await ask('POST', link)).status).toBe(400);
  });

  it('is emailed to the person of the address, and nobody else, if mail is sent', async () => {
    const send = vi.spyOn(env.EMAIL, 'send').mockResolvedValue({ messageId: '1' });
    const { lines } = listenToLog();
    const request = async (email: string, variables = {}) => {
      const bindings = { ...env, ...variables };
      const reply = await ask('POST', '/portal/sign-in', { fields: { email }, bindings });
      return [reply.status, await reply.text()];
    };
    const known = await request(ours.email.toUpperCase());
    expect(send).toHaveBeenCalledOnce();
    expect(send.mock.calls[0]?.[0]).toMatchObject({
      to: ours.email,
      text: expect.stringMatching(
        /https:\/\/portal\.example\.com\/portal\/sign-in\/link\?secret=[\w-]{65}/,
      ),
    });
    expect(await request('stranger@example.com')).toEqual(known);
    const links = await value('select count(*) from sign_in_links');
    expect(await request(ours.email, { EMAIL_FROM: undefined, EMAIL: undefined })).toEqual(known);
    expect(await value('select count(*) from sign_in_links')).toBe(links);
    expect(send).toHaveBeenCalledOnce();
    expect(lines('fault')).toEqual([]);
    for (let i = 0; i < 12; i++) await request(ours.email);
    expect(send.mock.calls.length).toBeLessThanOrEqual(10);
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
      for (let i = 0; i < 6; i++) {
        const reply = await ask('POST', '/portal/sign-in', { fields: { email } });
        pages.add(await reply.text());
      }
    }
    const begin = Date.now();
    for (const [quarter, emails] of [5, 10, 15, 20, 20].entries()) {
      await requestAt(begin + quarter * linkMs);
      await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(emails));
    }
    await requestAt(begin + dayMs);
    await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(25));
    expect(pages.size).toBe(1);
  });

  it('is emailed once by a form that is sent twice', async () => {
    const { email } = await signIn(us);
    const { sent } = keepEmails();
    const press = (key: string) => ask('POST', '/portal/sign-in', { fields: { email, key } });
    const [first, second] = await Promise.all([press('a key'), press('a key')]);
    expect(await second.text()).toBe(await first.text());
    await press('another key');
    await expect.poll(() => sent().filter(({ to }) => to === email).length).toBe(2);
    const links = 'sign_in_links join portal_users u on u.id = user_id where email = ?1';
    expect(await value(`select count(*) from ${links}`, email)).toBe(2);
  });
});

const foreignKeys = { ...env, ENCRYPTION_KEYS: `test:${btoa('k'.repeat(32))}` };

it('D1 is not asked by junk for a session or for a sign-in link', async () => {
  const asked = vi.spyOn(env.DB, 'prepare');
  for (let i = 0; i < 25; i++) {
    const random = base64url(crypto.getRandomValues(new Uint8Array(48)));
    const session = await newSecret(env, 'session');
    const link = await newSecret(env, 'sign-in link');
    for (const junk of ['x', random, link, await newSecret(foreignKeys, 'session')]) {
      const reply = await ask('GET', '/portal/connections', { cookie: `__Host-session=${junk}` });
      expect(reply.headers.get('location')).toBe('/portal/sign-in');
    }
    for (const junk of ['x', random, session, await newSecret(foreignKeys, 'sign-in link')])
      expect((await ask('POST', `/portal/sign-in/link?secret=${junk}`)).status).toBe(400);
  }
  expect(asked).not.toHaveBeenCalled();
  expect(await statusAt('/portal/connections', ours.cookie)).toBe(200);
  expect(asked).toHaveBeenCalled();
  asked.mockRestore();
});

it('D1 is asked ten times a minute by one link that has been used', async () => {
  const { link } = await signIn(us);
  const tries = await Promise.all(Array.from({ length: 30 }, () => ask('POST', link)));
  expect(tries.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(20);
  expect(tries.some(({ status }) => status === 429)).toBe(true);
  expect((await ask('POST', (await signIn(us)).link)).status).toBe(400);
});

it('actions in the portal are limited for each session, with a page that says so', async () => {
  const { cookie } = await signIn(us);
  const data = await register(us);
  const path = `/portal/webhooks/${data.id}/replay`;
  const replies = await Promise.all(
    Array.from({ length: 45 }, () => ask('POST', path, { cookie })),
  );
  const refused = replies.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(5);
  expect(await refused[0]?.text()).toContain('Too many requests');
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  for (const action of ['test-event', 'test-accident'])
    expect((await ask('POST', path.replace('replay', action), { cookie })).status).toBe(429);
  const test = { cookie, fields: { do: 'test' } }; // of a new webhook
  expect((await ask('POST', '/portal/webhooks/new', test)).status).toBe(429);
  expect(await statusAt(path, cookie)).toBe(429); // which counts
  expect(await statusAt('/portal/webhooks', cookie)).toBe(200);
  expect((await ask('POST', path, { cookie: ours.cookie })).status).toBe(303);
});

it('actions in the portal are limited for an account, however many sessions it has', async () => {
  const them = await world();
  const sessions = await Promise.all(Array.from({ length: 8 }, () => signIn(them)));
  const fields = { email: 'not an address' };
  const replies = await Promise.all(
    sessions.flatMap(({ cookie }) =>
      Array.from({ length: 19 }, () => ask('POST', '/portal/settings/people', { cookie, fields })),
    ),
  );
  expect(replies.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(30);
});
