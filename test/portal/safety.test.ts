import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { keepEmails } from '../support/emails.ts';
import { listenToLog } from '../support/log.ts';
import { ask, signIn, visitor } from '../support/portal.ts';
import { personalRoutes, portalAccount } from '../support/portal-account.ts';
import { portalRoutes } from '../support/routes.ts';
import { rows, rowsOf, value } from '../support/rows.ts';
import { operator, type World, world } from '../support/world.ts';

type Account = Awaited<ReturnType<typeof portalAccount>>;
let us: World;
let ours: Account;
let theirs: Account;
let theirRows: unknown[];
beforeAll(async () => {
  [ours, theirs] = [await portalAccount(), await portalAccount('their-secret')];
  ({ us } = ours);
  theirRows = await changeable();
});

/** What actions change, of the other account. */
const changeable = async () => {
  const { accounts, connections, pulls, webhooks, deliveries, tokens, portal_users } = await rowsOf(
    theirs.us.accountId,
  );
  return [accounts, connections, pulls, webhooks, deliveries, tokens, portal_users];
};

/** More is asked for here than people may in a minute. */
const enough = { limit: async () => ({ success: true }) };
const unlimited = { ...env, ACTION_LIMIT: enough, ACCOUNT_ACTION_LIMIT: enough };

/** A route's path with ids of the other account. */
const aimedAtThem = (route: string) => {
  const [method = '', pattern = ''] = route.split(' ');
  return { method, path: theirs.at(pattern) };
};

describe('the portal', () => {
  it.each(personalRoutes)('%s redirects people who are not signed in to the sign-in page', async (route) => {
    const { method, path } = aimedAtThem(route);
    for (const cookie of ['', '__Host-session=x', 'session=x', `__Host-session=${us.apiToken}`]) {
      const reply = await ask(method, path, { cookie });
      expect(reply.status).toBe(303);
      expect(reply.headers.get('location')).toBe('/portal/sign-in');
    }
  });

  it.each(personalRoutes.filter((route) => !route.includes('sign-out')))(
    '%s shows nothing of another account',
    async (route) => {
      const { method, path } = aimedAtThem(route);
      const reply = await ask(method, path, { cookie: ours.cookie, bindings: unlimited });
      if (path !== route.split(' ')[1]) expect(reply.status).toBe(404);
      const text = await reply.text();
      for (const secret of ['their-secret', theirs.us.connection.id]) expect(text).not.toContain(secret);
    },
  );

  it('has changed nothing of another account by all these', async () => {
    expect(await changeable()).toEqual(theirRows);
  });

  it.each(portalRoutes.filter((route) => route.startsWith('POST')))(
    '%s refuses a form from another site',
    async (route) => {
      const { method, path } = aimedAtThem(route);
      const reply = await ask(method, path, { cookie: ours.cookie, origin: 'https://evil.example' });
      expect(reply.status).toBe(403);
    },
  );
});

it.each(personalRoutes.filter((route) => route.startsWith('GET') && !route.includes(':')))(
  '%s works for an account that has nothing yet',
  async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const fresh = await signIn(await world());
    expect([200, 303]).toContain((await ask(method, path, { cookie: fresh.cookie })).status);
  },
);

describe('a session', () => {
  it('is a __Host- cookie, of which only the hash is stored', async () => {
    expect(ours.setCookie).toMatch(
      /^__Host-session=[\w-]{65}; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const results = await rows('select * from sessions');
    expect(JSON.stringify(results)).not.toContain(ours.cookie.split('=')[1]);
  });

  it('ends with its 14 days, with its person, and with the suspension of its account', async () => {
    const other = await world();
    const { cookie, email } = await signIn(other);
    const { get, textAt } = visitor(() => cookie);
    const status = async () => (await get('/portal/connections')).status;
    expect(await status()).toBe(200);
    await operator.patch(`/operator/accounts/${other.accountId}`, { status: 'suspended' });
    expect(await status()).toBe(403);
    expect(await textAt('/portal/vehicles')).toContain('This account is suspended');
    await operator.patch(`/operator/accounts/${other.accountId}`, { status: 'active' });
    expect(await status()).toBe(200);
    const users = `/operator/accounts/${other.accountId}/users`;
    const { data } = await operator.get<{ id: string; email: string }[]>(users);
    await operator.delete(`${users}/${data.find((user) => user.email === email)?.id}`);
    expect(await status()).toBe(303);
    const late = await signIn(other);
    await rows('update sessions set expires_at = 1');
    expect((await ask('GET', '/portal/connections', { cookie: late.cookie })).status).toBe(303);
    Object.assign(ours, await signIn(us));
  });
});

describe('a sign-in link', () => {
  it('is used up only by its button, and works once', async () => {
    const fresh = await signIn(us);
    expect((await ask('GET', fresh.link)).status).toBe(200);
    expect((await ask('POST', fresh.link)).status).toBe(400);
  });

  it('expires after 15 minutes', async () => {
    const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', { email: ours.email });
    const left = await value<number>('select max(expires_at) as at from sign_in_links');
    expect(Math.round(((left ?? 0) - Date.now()) / 60_000)).toBe(15);
    await rows('update sign_in_links set expires_at = ?1', Date.now());
    expect((await ask('POST', new URL(data.url).pathname)).status).toBe(400);
  });

  it('is emailed to the person who has the address, and to nobody else, if the deployment sends mail', async () => {
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
      text: expect.stringMatching(/https:\/\/portal\.example\.com\/portal\/sign-in\/[\w-]{65}/),
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

  it('is emailed once by a form that is sent twice', async () => {
    const { email } = await signIn(us);
    const { sent } = keepEmails();
    const twice = () => ask('POST', '/portal/sign-in', { fields: { email, key: 'a key' } });
    const [first, second] = await Promise.all([twice(), twice()]);
    expect(await second.text()).toBe(await first.text());
    await ask('POST', '/portal/sign-in', { fields: { email, key: 'another key' } });
    const links = () =>
      value(
        'select count(*) from sign_in_links join portal_users u on u.id = user_id where email = ?1',
        email,
      );
    await expect.poll(() => sent().filter(({ to }) => to === email).length).toBe(2);
    expect(await links()).toBe(2);
  });
});
