import { env } from 'cloudflare:workers';
import { callsOf } from '#src/core/webhooks/deliveries/send/calls.ts';
import { authorizer } from '#src/extras/oauth/access-token.ts';
import { sealClient } from '#src/extras/oauth/client.ts';
import { importKey, signatureHeaders } from '#src/extras/signing/secrets.ts';
import {
  as,
  attempted,
  claim,
  createWebhook,
  deliveriesOf,
  invalid,
  issueToken,
  newId,
  type Person,
  replaceWebhook,
  rows,
  settled,
  signIn,
  story,
  times,
  unattempted,
  value,
  type WebhookOut,
  webhooksOf,
} from '#test/support.ts';

const { us, heard, register, happen } = story();
const origin = 'https://login.example.com';
const client = {
  tokenUrl: `${origin}/oauth2/token`,
  clientId: 'fleet data',
  clientSecret: 's3cret:+',
  scope: 'claims.write',
};

type Asked = { authorization: string | null; fields: { [name: string]: string } };
let asked: Asked[];
let grant: (request: Asked) => Response | Promise<Response>;
const granted = (access_token: string, more: object = {}) =>
  Response.json({ access_token, token_type: 'Bearer', expires_in: 3600, ...more });
beforeEach(() => {
  asked = [];
  grant = () => granted(`token-${asked.length}`);
  heard.serves(origin, async (request) => {
    const sent = new TextDecoder().decode(await request.arrayBuffer());
    const fields = Object.fromEntries(new URLSearchParams(sent));
    const one = { authorization: request.headers.get('authorization'), fields };
    asked.push(one);
    return grant(one);
  });
});

const withClient = (oauth: object | null = client, more: object = {}) =>
  register({ oauth, ...more });
const sentTokens = () => heard.got.map(({ headers }) => headers.authorization);

describe('a webhook with an OAuth 2 client', () => {
  it('is called with one token for all deliveries, asked for as the RFC says', async () => {
    const hook = await withClient(client, {
      headers: { Authorization: 'Basic mine', 'X-Mine': '1' },
    });
    await happen(12);
    await settled(hook.id, 12);
    await happen(1, 'later');
    await settled(hook.id, 13);
    expect(new Set(sentTokens())).toEqual(new Set(['Bearer token-1']));
    expect(heard.got[0]?.headers['x-mine']).toBe('1');
    const authorization = `Basic ${btoa('fleet+data:s3cret%3A%2B')}`;
    const fields = { grant_type: 'client_credentials', scope: 'claims.write' };
    expect(asked).toEqual([{ authorization, fields }]);
  });

  it('sends its parameters, encrypted like its secret, and hidden from readers', async () => {
    const params = { audience: 'https://api.example.com/claims', pin: 'a:secret+of/another kind' };
    const { clientSecret, ...shown } = client;
    const hook = await withClient({ ...client, params });
    expect(hook.oauth).toEqual({ ...shown, params });
    await happen();
    await settled(hook.id);
    expect(asked).toMatchObject([{ fields: { scope: client.scope, ...params } }]);
    const stored = JSON.stringify(await rows('select * from webhooks'));
    for (const secret of [clientSecret, 'token-1', ...Object.values(params)])
      expect(stored).not.toContain(secret);
    const reader = await issueToken(us.accountId, { readOnly: true });
    expect((await as(reader.value).get('/webhooks')).data).toMatchObject([{ oauth: shown }]);
    const kept = await replaceWebhook(us, hook.id, { oauth: hook.oauth });
    expect(kept.data.oauth).toEqual(hook.oauth);
  });

  it('keeps its secret while its token URL and client stay', async () => {
    const hook = await withClient();
    const change = (changed: object) =>
      replaceWebhook(us, hook.id, { oauth: { ...hook.oauth, ...changed } });
    await change({ scope: 'other' });
    await happen();
    await settled(hook.id);
    expect(asked).toMatchObject([{ fields: { scope: 'other' } }]);
    for (const changed of [{ tokenUrl: 'https://elsewhere.example.com' }, { clientId: 'other' }])
      expect(await change(changed)).toMatchObject(
        invalid('oauth.clientSecret is required', 'oauth.clientSecret'),
      );
  });

  const many = (count: number, length: number) =>
    Object.fromEntries(times(count, (i) => [`p${i}`, 'x'.repeat(length)]));
  it.each([
    ['oauth.clientSecret', 'is required', { clientSecret: undefined }],
    ['oauth.clientSecret', 'must be visible ASCII characters', { clientSecret: 'a\nb' }],
    ['oauth.tokenUrl', 'must use a host name', { tokenUrl: 'https://10.0.0.1/t' }],
    ['oauth.params', 'can have at most 10 entries', { params: many(11, 1) }],
    ['oauth.params', 'can be at most 2 KiB', { params: many(5, 410) }],
    ['oauth.params', 'must not name grant_type', { params: { Grant_Type: 'password' } }],
    ['oauth.params', 'names must be', { params: { 'a b': 'x' } }],
    ['oauth.params', 'values must be', { params: { audience: 'x'.repeat(501) } }],
    ['oauth.params', 'must be an object of strings', { params: ['x'] }],
  ])('is refused, for %s %s: %j', async (field, message, changed) => {
    const refused = await createWebhook(us, { oauth: { ...client, ...changed } });
    const error = { field, message: expect.stringContaining(message) };
    expect(refused).toMatchObject({ status: 400, errors: [error] });
  });
});

describe('a token', () => {
  it('is renewed once when the receiver refuses it, and not again', async () => {
    const hook = await withClient();
    let good = 'Bearer token-1';
    heard.responds(
      ({ headers }) => new Response('', { status: headers.authorization === good ? 200 : 401 }),
    );
    await happen(1, 'a');
    await settled(hook.id, 1);
    good = 'Bearer token-2';
    await happen(1, 'b');
    await settled(hook.id, 2);
    expect(sentTokens()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
    good = 'none';
    await happen(1, 'c');
    await expect.poll(() => heard.got).toHaveLength(5);
    expect(asked).toHaveLength(3);
    const log = async () => (await deliveriesOf(hook.id)).at(-1)?.log;
    await expect.poll(log).toMatchObject([{ result: 'status', status: 401 }]);
  });

  it('is renewed before it expires, and not asked for again while it lives', async () => {
    const authorize = await authorizerOf(await withClient());
    grant = () => granted(`token-${asked.length}`, { expires_in: 100 });
    const soon = () => Date.now() + 5_000;
    expect(await authorize(soon())).toMatchObject({ value: 'token-1' });
    expect(await authorize(soon())).toMatchObject({ value: 'token-1' });
    vi.useFakeTimers({ now: Date.now() + 80_000, toFake: ['Date'] });
    expect(await authorize(soon())).toMatchObject({ value: 'token-2' });
    vi.useRealTimers();
    expect(asked).toHaveLength(2);
  });

  it('is not asked for at an address that must not be called', async () => {
    const { id } = await withClient();
    const sealed = await sealClient(env, id, { ...client, tokenUrl: 'https://10.0.0.1/token' });
    await rows(
      "update webhooks set options = json_set(options, '$.oauth', json(?1)) where id = ?2",
      JSON.stringify(sealed),
      id,
    );
    await happen();
    const reason = 'token endpoint has an address that we do not call';
    expect((await attempted(id)).log).toMatchObject([{ result: 'token', reason }]);
    expect(heard.got).toEqual([]);
  });

  it('is asked for in the body by those whose endpoint refuses Basic, also next time', async () => {
    grant = ({ authorization }) =>
      authorization ? new Response(null, { status: 401 }) : granted('by-post', { expires_in: 2 });
    const hook = await withClient();
    await happen();
    await settled(hook.id);
    expect(sentTokens()).toEqual(['Bearer by-post']);
    await expect.poll(() => storedOf('oauthToken', hook.id)).not.toBeNull();
    const authorize = await authorizerOf(hook);
    expect(await authorize(Date.now() + 5_000, 'by-post')).toMatchObject({ value: 'by-post' });
    const fields = { client_id: client.clientId, client_secret: client.clientSecret };
    const inBody = { authorization: null, fields };
    expect(asked).toMatchObject([{}, inBody, inBody]);
  });

  it.each([
    ['a token', 0, undefined],
    ['another token', 1, 401],
  ])('that comes too late, as %s, is for later calls', async (_, calls, status) => {
    const hook = await withClient();
    await unattempted(hook.id, happen);
    const { webhook, claimed } = await claim(hook.id);
    heard.returns(401);
    grant = async () => {
      if (asked.length > calls) await scheduler.wait(600);
      return granted(`token-${asked.length}`);
    };
    const sending = callsOf(env, hook.id);
    if (webhook) sending.start(webhook, claimed, Date.now() + 300);
    await sending.progress(false);
    const [recorded] = sending.takeEnded();
    expect([recorded?.status, recorded?.attempt?.status]).toEqual(['pending', status]);
    expect(heard.got).toHaveLength(calls);
  });

  it.each([
    ['returned', 0, 40],
    ['returned, of which no more is kept', 1000, 40],
    ['returned, of which no more is read', 1000, 5000],
  ])('is not in what the receiver %s', async (_, before, length) => {
    grant = () => granted(newId().replaceAll('-', '').repeat(200).slice(0, length));
    const hook = await withClient();
    heard.responds(
      ({ headers }) => new Response('-'.repeat(before) + headers.authorization, { status: 500 }),
    );
    await happen();
    const { log } = await attempted(hook.id);
    expect(log[0]?.answer).toBe(`${'-'.repeat(before)}Bearer …`);
  });
});

const storedOf = (name: 'oauth' | 'oauthToken', id: string) =>
  value<string | null>(`select options->>'${name}' from webhooks where id = ?1`, id);
/** What authorizes the calls of an invocation, with the token that is stored. */
async function authorizerOf({ id }: WebhookOut) {
  const of = { env, webhookId: id, userAgent: 'test' };
  const [sealed, kept] = [await storedOf('oauth', id), await storedOf('oauthToken', id)];
  return authorizer(of, JSON.parse(String(sealed)), JSON.parse(String(kept)));
}

it('a token endpoint that fails is said on the page of the delivery and in the list', async () => {
  grant = () => Response.json({ error: 'invalid_scope' }, { status: 400 });
  const hook = await withClient();
  await happen();
  const { id } = await attempted(hook.id);
  const { textAt } = await signIn(us);
  const page = await textAt(`/portal/webhooks/${hook.id}/deliveries/${id}`);
  expect(page).toMatch(/No access token.*Token endpoint responded 400: invalid_scope/);
  expect(page).toContain('Authorization: Bearer …');
  const reason = 'token endpoint responded 400: invalid_scope';
  const { data } = await us.api.get<object[]>(`/deliveries?webhookId=${hook.id}`);
  expect(data).toMatchObject([{ lastAnswer: { kind: 'token', status: null, reason } }]);
});

it('a token endpoint that fails is asked once for the deliveries that wait, not once for each', async () => {
  grant = () => Response.json({ error: 'server_error' }, { status: 500 });
  const hook = await withClient();
  await happen(4);
  const untried = async () =>
    (await deliveriesOf(hook.id)).filter(({ attempts }) => attempts === 0);
  await expect.poll(untried).toEqual([]);
  expect(asked.length).toBeLessThanOrEqual(2);
});

describe('a test from the form', () => {
  let person: Person;
  beforeEach(async () => {
    person = await signIn(us);
  });
  const press = async ({ id }: WebhookOut, typed: Record<string, string> = {}) =>
    (await person.page(`/portal/webhooks/${id}/edit`)).press('Send a test', typed);

  it('of a saved webhook has the token and the signature that a delivery would have', async () => {
    const hook = await withClient(client, { signing: true });
    heard.returns(204);
    expect((await press(hook)).text).toMatch(/Your receiver returned 204 in \d+ ms\./);
    expect(asked).toMatchObject([{ fields: { scope: client.scope } }]);
    const { headers, body } = heard.got[0] ?? {};
    expect(headers?.authorization).toBe('Bearer token-1');
    const key = await importKey(String(hook.signingSecret));
    const id = headers?.['webhook-id'] ?? '';
    const at = Number(headers?.['webhook-timestamp']) * 1000;
    const signature = await signatureHeaders([key], { id, at, body: JSON.stringify(body) });
    expect(headers).toMatchObject(signature);
    // The token of a test is not that of deliveries: what was typed may never be saved.
    expect(await storedOf('oauthToken', hook.id)).toBeNull();
  });

  it('uses what is typed, and what is stored where nothing is', async () => {
    const hook = await withClient();
    await press(hook, { Scope: 'typed' });
    expect(asked).toMatchObject([
      { authorization: expect.any(String), fields: { scope: 'typed' } },
    ]);
    const moved = await press(hook, { 'Token URL': `${origin}/moved` });
    expect([moved.status, moved.errors['oauth.clientSecret']]).toEqual([400, 'is required']);
    const other = await press(hook, { 'Client secret': 'other' });
    expect(other.form('Send a test').values('Client secret')).toEqual(['other']);
    expect(asked.at(-1)?.authorization).toBe(`Basic ${btoa('fleet+data:other')}`);
    const form = await person.page('/portal/webhooks/new');
    await form.press('Send a test', { ...typed, URL: 'https://receiver.example.com/new' });
    expect(sentTokens().at(-1)).toBe('Bearer token-3');
  });

  it('says whether the token endpoint or the receiver failed', async () => {
    const hook = await withClient();
    heard.returns(401);
    expect((await press(hook)).text).toMatch(/Your receiver returned 401 Unauthorized in/);
    grant = () => Response.json({ error: 'invalid_scope' }, { status: 400 });
    const { text } = await press(hook);
    expect(text).toContain(
      'Your receiver was not called, because it needs an access token: token endpoint responded 400: invalid_scope.',
    );
    expect(text).not.toContain('Only a 2xx status');
  });

  it('is refused where an account has tested a token endpoint ten times within the hour', async () => {
    const host = `${us.accountId} ${new URL(origin).hostname}`;
    const hour = Math.floor(Date.now() / 3_600_000);
    await rows('insert into test_calls values (?1, ?2, 10)', hour, host);
    const { errors } = await press(await withClient());
    expect(errors['oauth.tokenUrl']).toContain('was tested 10 times');
    expect(asked).toEqual([]);
  });
});

const typed = {
  'Token URL': client.tokenUrl,
  'Client ID': client.clientId,
  'Client secret': client.clientSecret,
  Scope: client.scope,
};

it('the portal saves a client, keeps its secret, says what is wrong, and removes it', async () => {
  const hook = await withClient(null);
  const { page } = await signIn(us);
  const path = `/portal/webhooks/${hook.id}`;
  const save = async (fields: Record<string, string>) =>
    (await page(`${path}/edit`)).press('Save changes', fields);
  const wrong = await save({ ...typed, 'Token URL': 'http://login.example.com' });
  expect(wrong.errors['oauth.tokenUrl']).toContain('https');
  // Otherwise the secret of before would be kept without a word once the error is mended.
  expect(wrong.form('Save changes').values('Client secret')).toEqual([client.clientSecret]);
  await save(typed);
  const form = (await page(`${path}/edit`)).form('Save changes');
  expect(form.values('Client ID')).toEqual([client.clientId]);
  expect(form.values('Client secret')).toEqual(['']);
  const more = await save({ 'Parameter 1 name': 'audience' });
  expect(more.errors['oauth.params']).toContain('values must be 1 to 500');
  await more.press('Save changes', { 'Parameter 1 value': 'of ours' });
  await save({ Scope: '' });
  await happen();
  await settled(hook.id);
  expect(sentTokens()).toEqual(['Bearer token-1']);
  const fields = { grant_type: 'client_credentials', audience: 'of ours' };
  expect(asked).toMatchObject([{ fields }]);
  expect(asked[0]?.fields).not.toHaveProperty('scope');
  const { text } = await page(path);
  expect(text).toContain('with audience');
  expect(text).not.toContain('of ours');
  await save({ 'Parameter 1 name': '', 'Token URL': '', 'Client ID': '' });
  expect((await webhooksOf(us))[0]).not.toHaveProperty('oauth');
});
