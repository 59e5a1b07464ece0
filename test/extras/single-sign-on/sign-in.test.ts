import { env } from 'cloudflare:workers';
import { refusalIn } from '#src/core/platform/errors.ts';
import { rateLimits } from '#src/core/platform/rate-limits.ts';
import { providerSessionMs } from '#src/extras/single-sign-on/save.ts';
import { signInByProvider } from '#src/extras/single-sign-on/sign-in-by-provider.ts';
import { reEncrypt } from '#src/operator/re-encrypt.ts';
import { byProviderIn } from '#src/people/by-provider.ts';
import {
  addRows,
  ask,
  dayMs,
  follow,
  keepEmails,
  newLink,
  operator,
  ownRows,
  type Person,
  receiver,
  rows,
  signIn,
  textOf,
  value,
  world,
  worldBefore,
} from '#test/support.ts';

const settings = '/portal/settings/sign-in';
const us = worldBefore(beforeEach);
let admin: Person;
let domain: string;
/** TXT records of domains. */
let records: Record<string, string>;
let servers: ReturnType<typeof receiver>;
beforeEach(async () => {
  admin = await signIn(us);
  domain = `d-${us.accountId}.example.com`;
  records = { [`_fleet-data-service.${domain}`]: `account=${us.accountId}` };
  servers = receiver();
  servers.serves('https://cloudflare-dns.com', ({ url }) => {
    const found = ['"v=spf1"', records[new URL(url).searchParams.get('name') ?? ''] ?? []].flat();
    return Response.json({ Status: 0, Answer: found.map((data) => ({ type: 16, data })) });
  });
});

const issuer = 'https://login.example.net';
const save = (changes: object = {}, by = admin) =>
  by.post(settings, {
    issuer,
    clientId: 'us',
    secret: 'word',
    role: '',
    linkUserId: by.id,
    domains: `${domain}, example.org`,
    ...changes,
  });
const domains = (accountId = us.accountId) =>
  rows('select domain from sign_in_domains where account_id = ?1 and proven_at > 0', accountId);

/** Signs somebody of the domain in by the provider. */
const confirm = (name: string, { subject = name, attempt = crypto.randomUUID() as string } = {}) =>
  signInByProvider(env, us.accountId, { email: `${name}@${domain}`, subject, attempt });
const ann = async () =>
  (await rows('select id, role from portal_users where email = ?1', `ann@${domain}`))[0];
const sessionsOfAnn = async () =>
  rows('select 1 from sessions where user_id = ?1', (await ann())?.id);
const inviteAnn = () =>
  admin.post('/portal/settings/people', { email: `ann@${domain}`, role: 'member' });
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

  it.each([
    [13, 1],
    [14, 0],
  ])(
    'whose record was last found %d days ago is %d proven one once it is saved',
    async (days, count) => {
      await save();
      records = {};
      await rows(
        'update sign_in_domains set proven_at = ?1 where domain = ?2',
        Date.now() - days * dayMs,
        domain,
      );
      await save();
      expect(await domains()).toHaveLength(count);
    },
  );

  it('belongs to one account, whatever its DNS names later', async () => {
    await save();
    const them = await world();
    records[`_fleet-data-service.${domain}`] = `account=${them.accountId}`;
    await save({}, await signIn(them));
    expect([await domains(), await domains(them.accountId)]).toEqual([[{ domain }], []]);
  });

  it('ends longer sessions, links and mail of its people, but not those of the chosen admin', async () => {
    const ann = await signIn(us);
    const theirs = ({ email }: Person) => email.replace('example.com', domain);
    for (const one of [ann, admin])
      await rows('update portal_users set email = ?1 where id = ?2', theirs(one), one.id);
    const left = ({ id }: Person) =>
      value('select max(expires_at) from sessions where user_id = ?1', id);
    await save();
    expect(await left(ann)).toBeLessThanOrEqual(Date.now() + providerSessionMs);
    expect(await left(admin)).toBeGreaterThan(Date.now() + providerSessionMs);
    const { sent } = keepEmails();
    for (const email of [ann, admin].map(theirs))
      await ann.post('/portal/sign-in', { email, do: 'link', key: email });
    await expect.poll(() => sent().map(({ to }) => to)).toEqual([theirs(admin)]);
  });
});

it('the secret is needed again for another issuer, so that none gets that of another', async () => {
  expect((await save()).status).toBe(303);
  expect((await save({ secret: '' })).status).toBe(303);
  const form = await admin.page(settings);
  const refused = await form.press('Save', { issuer: 'https://evil.example.net' });
  expect([refused.status, refused.errors.secret]).toEqual([400, 'is required']);
  const secret = async () => String((await ownRows(us, 'single_sign_on'))[0]?.secret);
  expect(await secret()).not.toContain('word');
  const keys = `new:${btoa('n'.repeat(32))},${env.ENCRYPTION_KEYS}`;
  await reEncrypt({ ...env, ENCRYPTION_KEYS: keys });
  expect(JSON.parse(await secret())).toMatchObject({ key: 'new' });
});

it.each(['http://login.example.net', 'login', 'https://'])('no issuer is at %s', async (issuer) =>
  expect((await save({ issuer })).status).toBe(400),
);

it('nothing private is called', async () => {
  await save({ issuer: 'https://10.0.0.1' });
  expect((await admin.page(settings)).links('Test sign-in')).toEqual([`${settings}/test`]);
  const tested = await admin.page(`${settings}/test`);
  expect(tested.text).toContain('not a public https address');
});

it('the admin who can always use a link stays an admin until another is chosen', async () => {
  await save();
  const other = await signIn(us, 'admin');
  const change = async (what: string, fields = {}) =>
    (await other.post(`/portal/settings/people/${admin.id}/${what}`, fields)).status;
  expect([await change('remove'), await change('role', { role: 'viewer' })]).toEqual([400, 400]);
  await save({}, other);
  expect(await change('remove')).toBe(303);
});

it('without domains it is removed', async () => {
  await save();
  await save({ domains: '' });
  expect([await ownRows(us, 'single_sign_on'), await domains()]).toEqual([[], []]);
});

it.each([
  'junk',
  'null',
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
  beforeEach(() => save({ role: 'viewer' }));

  it('is who they were at the first sign-in, until an admin invites them again', async () => {
    await confirm('ann', { subject: 'first' });
    expect(await asAnother()).toContain('knew somebody else by');
    expect(await sessionsOfAnn()).toHaveLength(1);
    await inviteAnn();
    expect(await asAnother()).toBe('none');
    expect(await problem(confirm('ann', { subject: 'first' }))).toContain('knew somebody else by');
    expect(await ann()).toMatchObject({ role: 'viewer' });
  });

  const asAnother = () => problem(confirm('ann', { subject: 'second' }));

  it.each([{ issuer: 'https://other.example.net' }, { clientId: 'other' }])(
    'may have another subject with %j, and not with a new secret',
    async (changes) => {
      await confirm('ann', { subject: 'first' });
      await save({ role: 'viewer', secret: 'new' });
      expect(await asAnother()).toContain('knew somebody else by');
      await save({ role: 'viewer', ...changes });
      expect(await asAnother()).toBe('none');
    },
  );

  it('is not added again after they were removed, unless somebody invites them', async () => {
    await confirm('ann');
    await admin.post(`/portal/settings/people/${(await ann())?.id}/remove`);
    expect(await problem(confirm('ann'))).toContain('Nobody has invited ann@');
    await inviteAnn();
    expect(await problem(confirm('ann'))).toBe('none');
    expect(await ann()).toMatchObject({ role: 'member' });
    expect(await ownRows(us, 'removed_people')).toEqual([]);
  });

  it('signs in once by an attempt', async () => {
    await confirm('ann', { attempt: 'one' });
    expect(await problem(confirm('ann', { attempt: 'one' }))).toContain('This sign-in was used');
    expect(await sessionsOfAnn()).toHaveLength(1);
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
  beforeEach(() => save());

  it('can let everybody of an account sign in by a link, until an admin saves again', async () => {
    await rows('update portal_users set email = ?1 where id = ?2', `admin@${domain}`, admin.id);
    const email = `ann@${domain}`;
    await operator.post(`${account()}/users`, { email });
    const byLink = async () => (await ask('POST', await newLink(email))).status;
    expect(await byLink()).toBe(400);
    expect((await turnOff()).data).toEqual({ domains: [domain] });
    expect(await byLink()).toBe(303);
    expect((await turnOff()).message).toContain('Nobody of this account must');
    await save({ secret: '' });
    expect([await domains(), await byLink()]).toEqual([[{ domain }], 400]);
    const audited = `select fields from audit_log where subject = 'single sign-on' and actor = 'operator' and account_id = ?1`;
    expect(await rows(audited, us.accountId)).toEqual([{ fields: '["off"]' }]);
  });

  it('cannot remove the one who can use a link, before that', async () => {
    const remove = () => operator.delete(`${account()}/users/${admin.id}`);
    const message = expect.stringContaining('sign in by a link');
    expect(await remove()).toMatchObject({ status: 400, message });
    await turnOff();
    expect((await remove()).status).toBe(200);
  });
});

it('a provider adds nobody to an account with a thousand people', async () => {
  await save({ role: 'viewer' });
  const account_id = us.accountId;
  await addRows('portal_users', 998, (i) => ({ account_id, email: `${i}@example.com` }));
  await confirm('last');
  await expect(confirm('more')).rejects.toThrow('invalid');
  const audited = 'select actor, action from audit_log where subject_name = ?1';
  expect(await rows(audited, `last@${domain}`)).toEqual([{ actor: 'service', action: 'created' }]);
});
