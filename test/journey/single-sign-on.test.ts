import { freePort } from '#src/cli/local/dev.ts';
import { operatorOf } from '#src/cli/operate/client.ts';
import { maxAttempts } from '#src/people/http/session-cookie.ts';
import { fleetJson, journeyAccount, ownStack } from '#test/support/node/journey.ts';
import { client, openIdBrowser, startOpenId } from '#test/support/node/openid.ts';

const port = await freePort();
const stack = ownStack({
  change: (toml) => ({
    ...toml,
    vars: { ...toml.vars, DNS_URL: `https://localhost:${port}/dns-query` },
  }),
});
const domain = 'acme.example.com';
const settings = '/portal/settings/sign-in';

let accountId: string;
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
  const fields = {
    issuer: provider.issuer,
    clientId: client.client_id,
    secret: '',
    domains: domain,
    role: '',
  };
  const { to } = await admin.post(settings, { ...fields, linkUserId: adminId, ...changes });
  return (await admin.get(to ?? settings)).text;
};

/** Another address of the same domain: one may sign in five times a minute, and the provider decides who it is. */
const typed = (email: string) => email.replace('@', `+${crypto.randomUUID()}@`);

/** Signs in with an address, and returns where the provider sends the browser back to. */
async function atProvider(email: string, by = browser(), change = (address: URL) => address) {
  const sent = await by.post('/portal/sign-in', { email: typed(email) });
  if (!sent.to) throw new Error(`no provider, but ${sent.text}`);
  return { by, back: await by.through(change(new URL(sent.to)).href) };
}

async function signIn(email: string, change?: (address: URL) => URL) {
  const { by, back } = await atProvider(email, browser(), change);
  return { ...by, back, ...(await by.get(back)) };
}

beforeAll(async () => {
  vi.spyOn(console, 'warn').mockReturnValue(); // of the provider, about where it keeps things
  ({ accountId } = await journeyAccount(stack));
  provider = await startOpenId(
    stack.certificates,
    port,
    `${stack.baseUrl}/portal/sso/${accountId}`,
  );
  const add = (name: string) =>
    fleetJson<{ id: string }>(stack, 'user', 'add', `${name}@${domain}`, '--account', accountId);
  ({ id: adminId } = await add('admin'));
  await add('ann');
  admin = await byLink(`admin@${domain}`);
});
afterAll(() => provider?.stop());

it('an admin sets a provider up, and tests it without signing anybody in', async () => {
  expect(await save({ secret: client.client_secret })).toContain(
    `_fleet-data-service.${domain} has no TXT record.`,
  );
  provider.people.ann = { email: `ann@${domain}`, email_verified: true };
  const test = async () => {
    const { to } = await admin.get(`${settings}/test`);
    const back = await admin.through(to ?? '');
    return (await admin.get((await admin.get(back)).to ?? '')).text;
  };
  const returned = `returned the address ann@${domain}, verified: true, subject: ann.`;
  expect(await test()).toContain(`${returned} _fleet-data-service.${domain} has no TXT record.`);
  provider.people.ann.email_verified = false;
  expect(await test()).toContain('“email_verified” is not true');
  await save({ secret: 'another' });
  expect(await test()).toMatch(
    /refuses the client ID or its secret.* It says: “client authentication failed”/,
  );
  provider.instead['/.well-known/openid-configuration'] = { issuer: 'https://evil.example.com' };
  const refused = await admin.get((await admin.get(`${settings}/test`)).to ?? '');
  expect(refused.text).toContain(
    'issuer differs from the one in the settings. It says: “https://evil.example.com”',
  );
  provider.instead = {};
  await save({ secret: client.client_secret });
  expect((await browser().post('/portal/sign-in', { email: `ann@${domain}` })).text).toContain(
    'on its way',
  );
});

it('an admin proves the domain by its DNS, from when on its people sign in by the provider', async () => {
  provider.records[`_fleet-data-service.${domain}`] = `account=${accountId}`;
  expect(await save()).toContain('Proven');
});

describe('somebody of the domain', () => {
  it('signs in by the provider, for 12 hours, and not by a link', async () => {
    provider.people.ann = { email: `Ann@${domain}`, email_verified: true };
    const { to, status, response, get } = await signIn(`ann@${domain}`);
    expect([status, to]).toEqual([303, `${stack.baseUrl}/portal`]);
    expect(response.headers.getSetCookie().join()).toMatch(/session=[^;]+; Max-Age=43200;/);
    expect((await get('/portal')).text).toContain(`ann@${domain}`);
    const link = await byLink(`ann@${domain}`);
    expect([link.status, link.text]).toEqual([
      400,
      expect.stringContaining('your company signs you in'),
    ]);
    expect((await byLink(`admin@${domain}`)).status).toBe(303);
  });

  it.each(['header', 'body'] as const)(
    'signs in where the provider takes its client in the %s alone',
    async (way) => {
      provider.takesClient = way;
      expect((await signIn(`ann@${domain}`)).status).toBe(303);
      provider.takesClient = null;
    },
  );

  it('signs in whatever other tabs do', async () => {
    const one = browser();
    const begin = () => one.post('/portal/sign-in', { email: typed(`ann@${domain}`) });
    for (const { to } of [await begin(), await begin()])
      expect((await one.get(await one.through(to ?? ''))).status).toBe(303);
    for (let tab = 0; tab < 8; tab++) await begin();
    expect([...one.jar.keys()].filter((name) => name.startsWith('sso-'))).toHaveLength(maxAttempts);
  });

  it('is signed out everywhere at once, and signs in again', async () => {
    const [one, two] = [await signIn(`ann@${domain}`), await signIn(`ann@${domain}`)];
    await one.post('/portal/sign-out-everywhere');
    expect((await two.get('/portal')).to).toBe(`${stack.baseUrl}/portal/sign-in`);
    expect((await signIn(`ann@${domain}`)).status).toBe(303);
  });

  it('signs in although the provider has changed its keys, but not with one that it does not publish', async () => {
    provider.rotate();
    expect((await signIn(`ann@${domain}`)).status).toBe(303);
    provider.instead['/jwks'] = { keys: [] };
    const { status, text } = await signIn(`ann@${domain}`);
    expect([status, text]).toEqual([
      400,
      expect.stringContaining('a key that the provider does not publish'),
    ]);
    provider.instead = {};
  });

  it.each([
    [
      'whose address is not verified',
      { email: `ann@${domain}`, email_verified: false },
      'has not verified',
    ],
    ['without an address', {}, 'did not return an email address'],
    [
      'whose address looks like theirs',
      { email: `ann@ａcme.example.com`, email_verified: true },
      'a different spelling',
    ],
    [
      'with an address of another domain',
      { email: 'ann@example.org', email_verified: true },
      'not a proven',
    ],
    [
      'whom nobody has invited',
      { email: `bob@${domain}`, email_verified: true },
      'Nobody has invited bob@',
    ],
    ['whom the provider lets in no more', null, 'did not let you in'],
  ])('%s is refused, in words', async (_, person, words) => {
    provider.people.ann = person;
    const { status, text, jar } = await signIn(`ann@${domain}`);
    expect([status, text]).toEqual([400, expect.stringContaining(words)]);
    expect(jar.has('session')).toBe(false);
  });

  it('is whom one document names and verifies', async () => {
    const about = (idToken: object, userinfo: object) => {
      [provider.inIdTokens.ann, provider.people.ann] = [idToken, userinfo];
      return signIn(`ann@${domain}`);
    };
    const [ann, verified] = [{ email: `ann@${domain}` }, { email_verified: true }];
    expect((await about(ann, verified)).text).toContain('did not return an email address');
    expect((await about(verified, ann)).text).toContain('has not verified');
    expect((await about(ann, { ...verified, email: 'ann@example.org' })).text).toContain(
      'not a proven domain',
    );
    expect((await about({ ...ann, ...verified }, {})).status).toBe(303);
    expect((await about(ann, { ...ann, ...verified })).status).toBe(303);
    provider.inIdTokens = {};
  });

  it('gets the role of newcomers, if there is one', async () => {
    await save({ role: 'viewer' });
    provider.subject = 'cleo';
    provider.people.cleo = { email: `cleo@${domain}`, email_verified: true };
    const { get } = await signIn(`cleo@${domain}`);
    expect((await get('/portal/settings/account')).text).toContain(`cleo@${domain}, a viewer`);
    provider.people.cleo = { email: `ann@${domain}`, email_verified: true };
    expect((await signIn(`ann@${domain}`)).text).toContain(
      `knew somebody else by ann@${domain} before`,
    );
    provider.subject = 'ann';
  });
});

describe('a response', () => {
  beforeAll(() => {
    provider.people.ann = { email: `ann@${domain}`, email_verified: true };
  });

  it.each([
    ['has another nonce', ['nonce', 'x'], undefined, 'belongs to another sign-in'],
    ['has another state', undefined, ['state', 'x'], 'This sign-in was used'],
    [
      'is of another issuer',
      undefined,
      ['iss', 'https://evil.example.com'],
      'is from a different issuer',
    ],
  ] as const)('that %s signs nobody in', async (_, asked, returned, words) => {
    const changed = (address: URL, pair?: readonly [string, string]) => {
      if (pair) address.searchParams.set(...pair);
      return address;
    };
    const { by, back } = await atProvider(`ann@${domain}`, browser(), (url) => changed(url, asked));
    const { status, text } = await by.get(changed(new URL(back), returned).href);
    expect([status, text]).toEqual([400, expect.stringContaining(words)]);
  });

  it('signs in once, and in the browser that began', async () => {
    const { by, back } = await atProvider(`ann@${domain}`);
    expect((await browser().get(back)).text).toContain('began in another browser');
    expect((await by.get(back)).status).toBe(303);
    expect((await by.get(back)).status).toBe(400);
    const changed = await atProvider(`ann@${domain}`);
    const elsewhere = changed.back.replace(accountId, crypto.randomUUID());
    expect((await changed.by.get(elsewhere)).text).toContain('This sign-in was used');
    const other = await atProvider(`ann@${domain}`);
    const stolen = new URL(other.back);
    stolen.searchParams.set('code', new URL(back).searchParams.get('code') ?? '');
    expect((await other.by.get(stolen.href)).text).toContain('no longer accepts this sign-in');
  });

  it('to a sign-in that began before the provider was changed signs nobody in', async () => {
    const { by, back } = await atProvider(`ann@${domain}`);
    const set = (issuer: string) => save({ issuer, secret: client.client_secret });
    await set(`${provider.issuer}/other`);
    expect((await by.get(back)).text).toContain('This sign-in was used');
    await set(provider.issuer);
  });

  it('of a provider with another issuer is refused', async () => {
    provider.instead['/.well-known/openid-configuration'] = { issuer: 'https://evil.example.com' };
    const { status, text } = await browser().post('/portal/sign-in', { email: `ann@${domain}` });
    expect([status, text]).toEqual([
      400,
      expect.stringContaining('issuer differs from the one in the settings'),
    ]);
    provider.instead = {};
  });
});

it('while the provider is down, the page says so with 503, and the chosen admin uses a link', async () => {
  provider.stop();
  const one = browser();
  const { status, text, response } = await one.post('/portal/sign-in', {
    email: `admin@${domain}`,
  });
  expect([status, text]).toEqual([503, expect.stringContaining('does not respond')]);
  expect(response.headers.get('retry-after')).toBe('30');
  const mail = await one.post('/portal/sign-in', { email: `admin@${domain}`, do: 'link' });
  expect(mail.text).toContain('a link is on its way');
  expect((await byLink(`admin@${domain}`)).to).toBe(`${stack.baseUrl}/portal`);
  await provider.start();
  expect((await signIn(`ann@${domain}`)).status).toBe(303);
});
