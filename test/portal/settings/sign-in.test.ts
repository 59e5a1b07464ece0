import { env } from 'cloudflare:workers';
import * as oauth from 'oauth4webapi';
import { providerSessionMs, signInByProvider } from '../../../src/accounts/single-sign-on.ts';
import { refusalIn } from '../../../src/platform/errors.ts';
import { reEncrypt } from '../../../src/platform/jobs/re-encrypt.ts';
import { problemOf, verifiedEmail } from '../../../src/portal/sign-in/provider.ts';
import { keepEmails } from '../../support/emails.ts';
import { type Person, signIn } from '../../support/portal.ts';
import { receiver } from '../../support/receiver.ts';
import { rows, value } from '../../support/rows.ts';
import { world, worldBefore } from '../../support/world.ts';

const settings = '/portal/settings/sign-in';
const us = worldBefore(beforeEach);
let admin: Person;
let id: string;
let domain: string;
/** TXT records of domains. */
let records: Record<string, string>;
beforeEach(async () => {
  admin = await signIn(us);
  id = await value<string>('select id from portal_users where email = ?1', admin.email);
  domain = `d-${us.accountId}.example.com`;
  records = { [`_fleet-data-service.${domain}`]: `account=${us.accountId}` };
  receiver().serves('https://cloudflare-dns.com', ({ url }) => {
    const data = records[new URL(url).searchParams.get('name') ?? ''];
    return Response.json({
      Status: 0,
      Answer: [{ type: 16, data: '"v=spf1"' }, ...(data ? [{ data }] : [])],
    });
  });
});

const save = async (changes: object = {}, by = admin, linkUserId = id) => {
  const usual = { issuer: 'https://login.example.net', clientId: 'us', secret: 'word', role: '', linkUserId };
  return by.post(settings, { ...usual, domains: `${domain}, example.org`, ...changes });
};
const domains = (accountId = us.accountId) =>
  rows('select domain from sign_in_domains where account_id = ?1 and proven_at > 0', accountId);

describe('a domain', () => {
  it.each([
    ['as one text', (account: string) => `"account=${account}"`],
    ['in two parts', (account: string) => `"account=${account.slice(0, 9)}" "${account.slice(9)}"`],
  ])('is proven by the record that names the account, %s', async (_, written) => {
    records[`_fleet-data-service.${domain}`] = written(us.accountId);
    await save();
    expect(await domains()).toEqual([{ domain }]);
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
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('is required')]);
  const stored = await value<string>('select secret from single_sign_on where account_id = ?1', us.accountId);
  expect(stored).not.toContain('word');
  await reEncrypt({ ...env, HEADER_KEYS: `new:${btoa('n'.repeat(32))},${env.HEADER_KEYS}` } as Env);
  expect(await value(`select secret->>'key' from single_sign_on where account_id = ?1`, us.accountId)).toBe(
    'new',
  );
});

it.each(['http://login.example.net', 'login', 'https://'])('no issuer is at %s', async (issuer) =>
  expect((await save({ issuer })).status).toBe(400),
);

it('nothing private is called', async () => {
  await save({ issuer: 'https://10.0.0.1' });
  const test = await admin.page(settings);
  expect(test.links('Test sign-in')).toEqual([`${settings}/test`]);
  const reply = await admin.get(`${settings}/test`);
  expect(decodeURIComponent(reply.headers.getSetCookie().join())).toContain('not a public https address');
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

it('a provider adds nobody to an account with a thousand people', async () => {
  await save({ role: 'viewer' });
  const many = `insert into portal_users (id, account_id, email, created_at)
    select value || ?1, ?1, value || ?1, 0 from json_each(?2)`;
  await rows(many, us.accountId, JSON.stringify(Array.from({ length: 998 }, (_, i) => i)));
  await signInByProvider(env, us.accountId, `last@${domain}`);
  await expect(signInByProvider(env, us.accountId, `more@${domain}`)).rejects.toThrow('invalid');
  const audited = 'select actor, action from audit_log where subject_name = ?1';
  expect(await rows(audited, `last@${domain}`)).toEqual([{ actor: 'service', action: 'created' }]);
});

const ann = { email: 'Ann@Example.com', email_verified: true };
const google = 'https://accounts.google.com';
it.each([
  [ann, undefined, 'ann@example.com'],
  [{ ...ann, email_verified: 'true' }, undefined, 'ann@example.com'],
  [{ email: ann.email, xms_edov: '1' }, undefined, 'ann@example.com'],
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
  [{ code: oauth.INVALID_RESPONSE }, 'something unexpected: x'],
])('%j is in words: %s', (options, words) => {
  const problem = refusalIn(problemOf(new oauth.OperationProcessingError('x', options)));
  expect(JSON.stringify(problem?.failure)).toContain(words);
  const fault = new Error('a fault of ours');
  expect(problemOf(fault)).toBe(fault);
});
