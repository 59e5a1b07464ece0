import { maxAttempts } from '#src/people/http/session-cookie.ts';
import { fleetJson, operatorOf, sharedAccount } from '#test/support/node/index.ts';
import { client, openIdBrowser, startOpenId } from '#test/support/node/openid.ts';

const { stack, us } = await sharedAccount();
const domain = 'acme.example.com';
const ann = `ann@${domain}`;
const settings = '/portal/settings/sign-in';

let provider: Awaited<ReturnType<typeof startOpenId>>;
let admin: ReturnType<typeof openIdBrowser>;
let adminId: string;

const browser = () => openIdBrowser(stack.baseUrl);

async function byLink(email: string) {
  const { url } = await operatorOf(stack).call('POST /sign-in-links', { body: { email } });
  const one = browser();
  return { ...one, ...(await one.post(url)) };
}

const save = async (changes: object = {}) => {
  const usual = { issuer: provider.issuer, clientId: client.client_id, secret: '', role: '' };
  const fields = { ...usual, domains: domain, linkUserId: adminId, ...changes };
  return (await admin.get((await admin.post(settings, fields)).to ?? settings)).text;
};

/** Begins as somebody whom the provider knows. One address may sign in five times a minute: this is another each time. */
const begin = (by: typeof admin) =>
  by.post('/portal/sign-in', { email: `${crypto.randomUUID()}@${domain}` });

/** Begins, and returns where the provider sends the browser back to. */
async function atProvider(change = (address: URL) => address) {
  const by = browser();
  const { to, text } = await begin(by);
  if (!to) throw new Error(`no provider, but ${text}`);
  return { by, back: await by.through(change(new URL(to)).href) };
}

async function signIn() {
  const { by, back } = await atProvider();
  return { ...by, ...(await by.get(back)) };
}

const refused = (words: string) => [400, expect.stringContaining(words)];

beforeAll(async () => {
  vi.spyOn(console, 'warn').mockReturnValue(); // of the provider, about where it keeps things
  const redirectUri = `${stack.baseUrl}/portal/sso/${us.accountId}`;
  provider = await startOpenId(stack.certificates, redirectUri);
  provider.people.ann = { email: `Ann@${domain}`, email_verified: true };
  const add = (email: string) =>
    fleetJson<{ id: string }>(stack, 'user add', email, '--account', us.accountId);
  ({ id: adminId } = await add(`admin@${domain}`));
  await add(ann);
  admin = await byLink(`admin@${domain}`);
});
afterAll(() => provider?.stop());

it('an admin sets a provider up, and tests it without signing anybody in', async () => {
  const unproven = `_fleet-data-service.${domain} has no TXT record.`;
  expect(await save({ secret: client.client_secret })).toContain(unproven);
  const test = async () => {
    const { to } = await admin.get(`${settings}/test`);
    const back = await admin.through(to ?? '');
    return (await admin.get((await admin.get(back)).to ?? '')).text;
  };
  const returned = `returned the address ${ann}, verified: true, subject: ann.`;
  expect(await test()).toContain(`${returned} ${unproven}`);
  await save({ secret: 'another' });
  expect(await test()).toMatch(
    /refuses the client ID or its secret.* It says: “client authentication failed”/,
  );
  provider.instead['/.well-known/openid-configuration'] = { issuer: 'https://evil.example.com' };
  const { text } = await admin.get((await admin.get(`${settings}/test`)).to ?? '');
  expect(text).toContain(
    'issuer differs from the one in the settings. It says: “https://evil.example.com”',
  );
  provider.instead = {};
  await save({ secret: client.client_secret });
  expect((await begin(browser())).text).toContain('on its way');
});

it('an admin proves the domain by its DNS, from when on its people sign in by the provider', async () => {
  provider.records[`_fleet-data-service.${domain}`] = `account=${us.accountId}`;
  expect(await save()).toContain('Proven');
});

describe('somebody of the domain', () => {
  it('signs in by the provider, for 12 hours, and not by a link', async () => {
    const { to, status, response, get } = await signIn();
    expect([status, to]).toEqual([303, `${stack.baseUrl}/portal`]);
    expect(response.headers.getSetCookie().join()).toMatch(/session=[^;]+; Max-Age=43200;/);
    expect((await get('/portal')).text).toContain(ann);
    const link = await byLink(ann);
    expect([link.status, link.text]).toEqual(refused('your company signs you in'));
    expect((await byLink(`admin@${domain}`)).status).toBe(303);
  });

  it.each(['header', 'body'] as const)(
    'signs in where the provider takes its client in the %s alone',
    async (way) => {
      provider.takesClient = way;
      expect((await signIn()).status).toBe(303);
      provider.takesClient = null;
    },
  );

  it('signs in whatever other tabs do', async () => {
    const one = browser();
    for (const { to } of [await begin(one), await begin(one)])
      expect((await one.get(await one.through(to ?? ''))).status).toBe(303);
    for (let tab = 0; tab < 8; tab++) await begin(one);
    expect([...one.jar.keys()].filter((name) => name.startsWith('sso-'))).toHaveLength(maxAttempts);
  });

  it('is signed out everywhere at once', async () => {
    const [one, two] = [await signIn(), await signIn()];
    await one.post('/portal/sign-out-everywhere');
    expect((await two.get('/portal')).to).toBe(`${stack.baseUrl}/portal/sign-in`);
  });

  it('signs in although the provider has changed its keys, but not with one that it does not publish', async () => {
    provider.rotate();
    expect((await signIn()).status).toBe(303);
    provider.instead['/jwks'] = { keys: [] };
    const { status, text } = await signIn();
    expect([status, text]).toEqual(refused('a key that the provider does not publish'));
    provider.instead = {};
  });

  const verified = { email_verified: true };
  it.each([
    ['with an address of another domain', { email: 'ann@example.org' }, 'not a proven'],
    ['whom nobody has invited', { email: `bob@${domain}` }, 'Nobody has invited bob@'],
    ['whom the provider lets in no more', null, 'did not let you in'],
  ])('%s is refused, in words', async (_, person, words) => {
    provider.people.ann = person && { ...person, ...verified };
    const { status, text, jar } = await signIn();
    expect([status, text]).toEqual(refused(words));
    expect(jar.has('session')).toBe(false);
  });

  it.each([
    [{ email: ann }, verified, 'did not return an email address'],
    [verified, { email: ann }, 'has not verified'],
    [{ email: ann }, { ...verified, email: 'ann@example.org' }, 'not a proven domain'],
    [{ ...verified, email: ann }, {}, ''],
    [{ email: ann }, { ...verified, email: ann }, ''],
  ])('is whom one document names and verifies: ID token %j, userinfo %j', async (...documents) => {
    const [idToken, userinfo, words] = documents;
    [provider.inIdTokens.ann, provider.people.ann] = [idToken, userinfo];
    const { status, text } = await signIn();
    expect([status, text]).toEqual(words ? refused(words) : [303, expect.anything()]);
    [provider.inIdTokens, provider.people.ann] = [{}, { ...verified, email: ann }];
  });
});

describe('a response', () => {
  const changed = (address: URL, pair?: readonly [string, string]) => {
    if (pair) address.searchParams.set(...pair);
    return address;
  };

  it.each([
    ['has another nonce', ['nonce', 'x'], undefined, 'belongs to another sign-in'],
    ['has another state', undefined, ['state', 'x'], 'This sign-in was used'],
    ['is of another issuer', undefined, ['iss', 'https://evil.example.com'], 'different issuer'],
  ] as const)('that %s signs nobody in', async (_, asked, returned, words) => {
    const { by, back } = await atProvider((url) => changed(url, asked));
    const { status, text } = await by.get(changed(new URL(back), returned).href);
    expect([status, text]).toEqual(refused(words));
  });

  it('signs in once, in the browser and the account that began', async () => {
    const { by, back } = await atProvider();
    expect((await browser().get(back)).text).toContain('began in another browser');
    expect((await by.get(back)).status).toBe(303);
    expect((await by.get(back)).status).toBe(400);
    const other = await atProvider();
    const elsewhere = other.back.replace(us.accountId, crypto.randomUUID());
    expect((await other.by.get(elsewhere)).text).toContain('This sign-in was used');
    const code = new URL(back).searchParams.get('code') ?? '';
    const third = await atProvider();
    const stolen = changed(new URL(third.back), ['code', code]);
    expect((await third.by.get(stolen.href)).text).toContain('no longer accepts this sign-in');
  });

  it('to a sign-in that began before the provider was changed signs nobody in', async () => {
    const { by, back } = await atProvider();
    const set = (issuer: string) => save({ issuer, secret: client.client_secret });
    await set(`${provider.issuer}/other`);
    expect((await by.get(back)).text).toContain('This sign-in was used');
    await set(provider.issuer);
  });
});

it('while the provider is down, the page says so with 503, and the chosen admin uses a link', async () => {
  provider.stop();
  const one = browser();
  const { status, text, response } = await begin(one);
  expect([status, text]).toEqual([503, expect.stringContaining('does not respond')]);
  expect(response.headers.get('retry-after')).toBe('30');
  const mail = await one.post('/portal/sign-in', { email: `admin@${domain}`, do: 'link' });
  expect(mail.text).toContain('a link is on its way');
  await provider.start();
  expect((await signIn()).status).toBe(303);
});
