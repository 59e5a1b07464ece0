import { env } from 'cloudflare:workers';
import * as oauth from 'oauth4webapi';
import { refusalIn } from '#src/core/platform/errors.ts';
import { rateLimits } from '#src/core/platform/rate-limits.ts';
import { problemOf, verifiedEmail } from '#src/extras/single-sign-on/provider.ts';
import { signInByProvider } from '#src/extras/single-sign-on/sign-in-by-provider.ts';
import { providerSessionMs } from '#src/extras/single-sign-on/single-sign-on.ts';
import { reEncrypt } from '#src/operator/re-encrypt.ts';
import { byProviderIn } from '#src/people/by-provider.ts';
import { keepEmails } from '#test/support/emails.ts';
import { ask, follow, type Person, signIn, textOf } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { rows, value } from '#test/support/rows.ts';
import { operator, world, worldBefore } from '#test/support/world.ts';

const settings = '/portal/settings/sign-in';
const us = worldBefore(beforeEach);
let admin: Person;
let id: string;
let domain: string;
/** TXT records of domains. */
let records: Record<string, string>;
let servers: ReturnType<typeof receiver>;
beforeEach(async () => {
  admin = await signIn(us);
  id = await value<string>('select id from portal_users where email = ?1', admin.email);
  domain = `d-${us.accountId}.example.com`;
  records = { [`_fleet-data-service.${domain}`]: `account=${us.accountId}` };
  servers = receiver();
  servers.serves('https://cloudflare-dns.com', ({ url }) => {
    const data = records[new URL(url).searchParams.get('name') ?? ''];
    return Response.json({
      Status: 0,
      Answer: [{ type: 16, data: '"v=spf1"' }, ...(data ? [{ type: 16, data }] : [])],
    });
  });
});

const save = async (changes: object = {}, by = admin, linkUserId = id) => {
  const usual = {
    issuer: 'https://login.example.net',
    clientId: 'us',
    secret: 'word',
    role: '',
    linkUserId,
  };
  return by.post(settings, { ...usual, domains: `${domain}, example.org`, ...changes });
};
const domains = (accountId = us.accountId) =>
  rows('select domain from sign_in_domains where account_id = ?1 and proven_at > 0', accountId);

/** Signs somebody of the domain in by the provider. */
const confirm = (name: string, { subject = name, attempt = crypto.randomUUID() as string } = {}) =>
  signInByProvider(env, us.accountId, { email: `${name}@${domain}`, subject, attempt });
const sessionsOf = (name: string) =>
  value<number>(
    'select count(*) from sessions s join portal_users u on u.id = s.user_id where email = ?1',
    `${name}@${domain}`,
  );
const problem = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error) => JSON.stringify(refusalIn(error)?.failure),
  );

describe('a domain', () => {
  it.each([
    ['as one text', (account: string) => `"account=${account}"`],
    ['in two parts', (account: string) => `"account=${account.slice(0, 9)}" "${account.slice(9)}"`],
  ])('is proven by the record that names the account, %s', async (_, written) => {
    records[`_fleet-data-service.${domain}`] = written(us.accountId);
    const saved = await save();
    expect(await domains()).toEqual([{ domain }]);
    expect(await follow(saved, admin.cookie)).toContain(
      '_fleet-data-service.example.org has the TXT record “v=spf1”.',
    );
    records = {};
    await save();
    expect(await domains()).toHaveLength(1);
  });

  it('belongs to one account, whatever its DNS names later', async () => {
    await save();
    const them = await world();
    const other = await signIn(them);
    records[`_fleet-data-service.${domain}`] = `account=${them.accountId}`;
    await save({}, other, await value('select id from portal_users where email = ?1', other.email));
    expect([await domains(), await domains(them.accountId)]).toEqual([[{ domain }], []]);
  });

  it('ends longer sessions, links and mail of its people, but not those of the chosen admin', async () => {
    const ann = await signIn(us);
    const theirs = ({ email }: Person) => email.replace('example.com', domain);
    for (const one of [ann, admin])
      await rows('update portal_users set email = ?1 where email = ?2', theirs(one), one.email);
    const left = (email: string) =>
      value<number>(
        'select max(expires_at) from sessions s join portal_users u on u.id = s.user_id where email = ?1',
        email,
      );
    await save();
    expect(await left(theirs(ann))).toBeLessThanOrEqual(Date.now() + providerSessionMs);
    expect(await left(theirs(admin))).toBeGreaterThan(Date.now() + providerSessionMs);
    const { sent } = keepEmails();
    for (const email of [ann, admin].map(theirs))
      await ann.post('/portal/sign-in', { email, do: 'link', key: email });
    await expect.poll(() => sent().map(({ to }) => to)).toEqual([theirs(admin)]);
  });
});

it('the secret is needed again for another issuer, so that none gets that of another', async () => {
  expect((await save()).status).toBe(303);
  expect((await save({ secret: '' })).status).toBe(303);
  const refused = await save({ secret: '', issuer: 'https://evil.example.net' });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('is required'),
  ]);
  const stored = await value<string>(
    'select secret from single_sign_on where account_id = ?1',
    us.accountId,
  );
  expect(stored).not.toContain('word');
  await reEncrypt({
    ...env,
    ENCRYPTION_KEYS: `new:${btoa('n'.repeat(32))},${env.ENCRYPTION_KEYS}`,
  } as Env);
  expect(
    await value(`select secret->>'key' from single_sign_on where account_id = ?1`, us.accountId),
  ).toBe('new');
});

it.each(['http://login.example.net', 'login', 'https://'])('no issuer is at %s', async (issuer) =>
  expect((await save({ issuer })).status).toBe(400),
);

it('nothing private is called', async () => {
  await save({ issuer: 'https://10.0.0.1' });
  const test = await admin.page(settings);
  expect(test.links('Test sign-in')).toEqual([`${settings}/test`]);
  const reply = await admin.get(`${settings}/test`);
  expect(decodeURIComponent(reply.headers.getSetCookie().join())).toContain(
    'not a public https address',
  );
});

it('the admin who can always use a link stays an admin until another is chosen', async () => {
  await save();
  const other = await signIn(us, 'admin');
  const remove = () => other.post(`/portal/settings/people/${id}/remove`);
  expect([
    (await remove()).status,
    (await other.post(`/portal/settings/people/${id}/role`, { role: 'viewer' })).status,
  ]).toEqual([400, 400]);
  await save({}, other, await value('select id from portal_users where email = ?1', other.email));
  expect((await remove()).status).toBe(303);
});

it('without domains it is removed', async () => {
  await save();
  await save({ domains: '' });
  const left = 'select 1 from single_sign_on where account_id = ?1';
  expect([await rows(left, us.accountId), await domains()]).toEqual([[], []]);
});

it.each([
  'junk',
  'null',
  '[]',
  '{"Status":0,"Answer":null}',
  '{"Status":0,"Answer":[null,{"type":16,"data":7}]}',
])('DNS that says %s proves nothing, and is no fault', async (text) => {
  servers.serves('https://cloudflare-dns.com', () => new Response(text));
  const reply = await save();
  expect([reply.status, await domains()]).toEqual([303, []]);
});

it('the DNS of all domains is asked at once', async () => {
  const all = Promise.withResolvers<void>();
  let asked = 0;
  servers.serves('https://cloudflare-dns.com', async () => {
    if (++asked === 3) all.resolve();
    await all.promise;
    return Response.json({ Status: 3 });
  });
  expect((await save({ domains: 'a.example.org b.example.org c.example.org' })).status).toBe(303);
});

describe('whom the provider confirms', () => {
  it('is who they were at the first sign-in, until an admin invites them again', async () => {
    await save({ role: 'viewer' });
    await confirm('ann', { subject: 'first' });
    const other = () => problem(confirm('ann', { subject: 'second' }));
    expect(await other()).toContain('knew somebody else by');
    expect(await sessionsOf('ann')).toBe(1);
    const invite = '/portal/settings/people';
    expect((await admin.post(invite, { email: `ann@${domain}`, role: 'member' })).status).toBe(303);
    expect(await other()).toBe('none');
    expect(await problem(confirm('ann', { subject: 'first' }))).toContain('knew somebody else by');
    expect(await value('select role from portal_users where email = ?1', `ann@${domain}`)).toBe(
      'viewer',
    );
  });

  it.each([{ issuer: 'https://other.example.net' }, { clientId: 'other' }])(
    'may have another subject with %j, and not with a new secret',
    async (changes) => {
      await save({ role: 'viewer' });
      await confirm('ann', { subject: 'first' });
      await save({ role: 'viewer', secret: 'new' });
      expect(await problem(confirm('ann', { subject: 'second' }))).toContain(
        'knew somebody else by',
      );
      await save({ role: 'viewer', ...changes });
      expect(await problem(confirm('ann', { subject: 'second' }))).toBe('none');
    },
  );

  it('is not added again after they were removed, unless somebody invites them', async () => {
    await save({ role: 'admin' });
    await confirm('ann');
    const user = await value<string>(
      'select id from portal_users where email = ?1',
      `ann@${domain}`,
    );
    expect((await admin.post(`/portal/settings/people/${user}/remove`)).status).toBe(303);
    expect(await problem(confirm('ann'))).toContain('Nobody has invited ann@');
    await admin.post('/portal/settings/people', { email: `ann@${domain}`, role: 'member' });
    expect(await problem(confirm('ann'))).toBe('none');
    expect(await value('select role from portal_users where email = ?1', `ann@${domain}`)).toBe(
      'member',
    );
    expect(await rows('select 1 from removed_people where account_id = ?1', us.accountId)).toEqual(
      [],
    );
  });

  it('signs in once by an attempt', async () => {
    await save({ role: 'viewer' });
    await confirm('ann', { attempt: 'one' });
    expect(await problem(confirm('ann', { attempt: 'one' }))).toContain('This sign-in was used');
    expect(await sessionsOf('ann')).toBe(1);
    expect(await problem(confirm('ann', { attempt: 'two' }))).toBe('none');
  });
});

describe('somebody of a proven domain', () => {
  const typed = (name: string, address: string) =>
    ask('POST', '/portal/sign-in', {
      fields: { email: `${name}@${domain}` },
      headers: { 'cf-connecting-ip': address },
    });
  beforeEach(async () => {
    const issuer = 'https://login.example.net';
    servers.serves(issuer, () =>
      Response.json({ issuer, authorization_endpoint: `${issuer}/authorize` }),
    );
    await save();
  });

  it('is led to the provider, whom the router can name', async () => {
    const reply = await typed('ann', 'an office');
    const to = reply.headers.get('refresh')?.replace('0; url=', '') ?? '';
    const account = await value<string>('select name from accounts where id = ?1', us.accountId);
    expect(byProviderIn(reply)).toEqual({ account, to });
    expect(new URL(to).searchParams.get('redirect_uri')).toMatch(
      new RegExp(`/portal/sso/${us.accountId}$`),
    );
    expect(await textOf(reply)).toContain(`You sign in to ${account} at login.example.net.`);
  });

  it('is counted for themselves: an office can sign in behind one address', async () => {
    const { calls } = rateLimits.SIGN_IN_LIMIT;
    const statuses = [];
    for (let i = 0; i < 2 * calls + 1; i++) statuses.push((await typed('ann', 'an office')).status);
    expect([statuses[0], statuses.includes(429)]).toEqual([200, true]);
    for (let i = 0; i < 40; i++) expect((await typed(`n${i}`, 'an office')).status).toBe(200);
    expect((await typed('ann', 'at home')).status).toBe(200);
  });
});

describe('operators', () => {
  const account = () => `/operator/accounts/${us.accountId}`;
  const turnOff = () =>
    operator.post<{ domains: string[] }>(`${account()}/single-sign-on/off`, undefined);

  it('can let everybody of an account sign in by a link, until an admin saves again', async () => {
    await save();
    await rows('update portal_users set email = ?1 where id = ?2', `admin@${domain}`, id);
    await operator.post(`${account()}/users`, { email: `ann@${domain}` });
    const byLink = async () => {
      const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', {
        email: `ann@${domain}`,
      });
      const { pathname, search } = new URL(data.url);
      return (await ask('POST', pathname + search)).status;
    };
    expect(await byLink()).toBe(400);
    expect((await turnOff()).data).toEqual({ domains: [domain] });
    expect(await byLink()).toBe(303);
    expect((await turnOff()).message).toContain('Nobody of this account must');
    await save({ secret: '' });
    expect([await domains(), await byLink()]).toEqual([[{ domain }], 400]);
    const [entry] = await rows(
      "select actor, fields from audit_log where account_id = ?1 and actor = 'operator' and subject = 'single sign-on'",
      us.accountId,
    );
    expect(entry).toEqual({ actor: 'operator', fields: '["off"]' });
  });

  it('cannot remove the one who can use a link, before that', async () => {
    await save();
    const remove = () => operator.delete(`${account()}/users/${id}`);
    const refused = await remove();
    expect([refused.status, refused.message]).toEqual([
      400,
      expect.stringContaining('sign in by a link'),
    ]);
    await turnOff();
    expect((await remove()).status).toBe(200);
  });
});

it('a provider adds nobody to an account with a thousand people', async () => {
  await save({ role: 'viewer' });
  const many = `insert into portal_users (id, account_id, email, created_at)
    select value || ?1, ?1, value || ?1, 0 from json_each(?2)`;
  await rows(many, us.accountId, JSON.stringify(Array.from({ length: 998 }, (_, i) => i)));
  await confirm('last');
  await expect(confirm('more')).rejects.toThrow('invalid');
  const audited = 'select actor, action from audit_log where subject_name = ?1';
  expect(await rows(audited, `last@${domain}`)).toEqual([{ actor: 'service', action: 'created' }]);
});

const ann = { email: 'Ann@Example.com', email_verified: true };
const google = 'https://accounts.google.com';
it.each([
  [ann, undefined, 'ann@example.com'],
  [{ ...ann, email_verified: 'true' }, undefined, 'ann@example.com'],
  [{ email: ann.email, xms_edov: 1 }, undefined, 'ann@example.com'],
  [{ ...ann, email_verified: 'not true' }, undefined, 'has not verified'],
  [{ ...ann, email_verified: '1' }, undefined, 'has not verified'],
  [{ ...ann, email_verified: [true] }, undefined, 'has not verified'],
  [{ ...ann, email_verified: false, xms_edov: true }, undefined, 'has not verified'],
  [{ ...ann, email: 'ann@ＥＸＡＭＰＬＥ.com' }, undefined, 'in a different spelling'],
  [{ ...ann, email: ' ann@example.com' }, undefined, 'in a different spelling'],
  [{ ...ann, hd: 'example.com' }, google, 'ann@example.com'],
  [ann, google, 'private Google account'],
  [{ ...ann, email_verified: false }, undefined, 'has not verified ann@example.com'],
  [{ email: ann.email }, undefined, 'has not verified'],
  [{ ...ann, email: 'ann' }, undefined, 'other than an email address'],
  [{ email_verified: true }, undefined, 'did not return an email address'],
])('claims %j of %s: %s', (claims, issuer = 'https://login.example.net', result) => {
  const said = () => {
    try {
      return verifiedEmail({ issuer }, claims);
    } catch (error) {
      return JSON.stringify(refusalIn(error)?.failure);
    }
  };
  expect(said()).toContain(result);
});

it.each([
  [{ code: oauth.JWT_CLAIM_COMPARISON, cause: { claim: 'aud' } }, 'is for another client ID'],
  [{ code: oauth.JWT_TIMESTAMP_CHECK, cause: { claim: 'exp' } }, 'clock is off'],
  [{ code: oauth.INVALID_RESPONSE }, 'Unexpected response from the provider: x'],
])('%j is in words: %s', (options, words) => {
  const problem = refusalIn(problemOf(new oauth.OperationProcessingError('x', options)));
  expect(JSON.stringify(problem?.failure)).toContain(words);
  expect(
    JSON.stringify(refusalIn(problemOf(new oauth.OperationProcessingError('x', options)))),
  ).not.toContain('It says');
  const fault = new Error('a fault of ours');
  expect(problemOf(fault)).toBe(fault);
});
