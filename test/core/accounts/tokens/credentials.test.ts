import { env } from 'cloudflare:workers';
import { generateToken, hashToken, isRecognised } from '#src/core/accounts/tokens/format.ts';
import type { KnownToken } from '#src/core/accounts/tokens/known.ts';
import { through } from '#src/core/platform/db/through.ts';
import { routes } from '#test/support/routes.ts';
import {
  as,
  ask,
  call,
  changeAccount,
  hourMs,
  issueLimited,
  issueToken,
  operator,
  rows,
  signIn,
  value,
  vehicle,
  webhookBody,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);
const issueReadOnly = async () => (await issueToken(us.accountId, { readOnly: true })).value;
const revoke = (id: string) => operator.delete(`/operator/tokens/${id}`);
const unauthenticated = { status: 401, message: 'Invalid or expired token' };
const forbidden = { status: 403, message: 'Insufficient permissions' };

describe('an API token', () => {
  it('is kept as a hash alone', async () => {
    const stored = JSON.stringify(await rows('select * from tokens'));
    expect(stored).not.toContain(us.apiToken.slice(4, 40));
    const { keys } = await env.TOKENS.list();
    expect(keys.map(({ name }) => name)).toContain(await hashToken(us.apiToken));
  });

  it('is refused once revoked, and leaves KV, but also where that still says that it is good', async () => {
    const hash = await hashToken(us.apiToken);
    const entry = await env.TOKENS.get(hash);
    await revoke(us.tokenId);
    expect(await env.TOKENS.get(hash)).toBeNull();
    await env.TOKENS.put(hash, entry ?? '');
    for (const reply of [
      await us.api.get('/webhooks'),
      await us.api.post('/webhook', { not: 'valid' }),
      await us.api.delete('/webhook/none'),
      await us.api.send(vehicle()),
    ]) {
      expect(reply).toMatchObject(unauthenticated);
      expect(reply.headers.get('www-authenticate')).toContain('ApiKey');
    }
  });

  const other = { connectionId: 'x', provider: 'x', tSP: 'x' };
  it.each([
    ['an ingest key an API token', () => us.connection.ingestKey, { connection: undefined }],
    ['a read-only token a full one', () => issueReadOnly(), { readOnly: false }],
    [
      'a limited token a full one',
      () => issueLimited(us.accountId, [us.connection.id]),
      { connectionIds: undefined },
    ],
    ['a token an ingest key', () => us.apiToken, { connection: other }],
  ])('is refused when KV says something else than D1: %s', async (_, credential, changes) => {
    const value = await credential();
    const hash = await hashToken(value);
    const entry = await env.TOKENS.get<object>(hash, { type: 'json' });
    await env.TOKENS.put(hash, JSON.stringify({ ...entry, ...changes }));
    for (const reply of [
      await as(value).get('/connections'),
      await as(value).post('/webhook', webhookBody(us)),
      await as(value).send(vehicle()),
    ])
      expect(reply).toMatchObject(unauthenticated);
  });

  it('works when KV does not know it, which is not asked again soon', async () => {
    const other = await world();
    await env.TOKENS.delete(await hashToken(other.apiToken));
    const get = vi.spyOn(env.TOKENS, 'get');
    for (let i = 0; i < 2; i++) expect((await other.api.get('/webhooks')).status).toBe(200);
    expect(get).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['down', () => Promise.reject(new Error('KV is down'))],
    ['hung', () => new Promise(() => {})],
    ['holding rubbish', async () => 'rubbish'],
  ])('with KV %s, credentials are still good, and revoked ones still not', async (_, fails) => {
    const bindings = { ...env, TOKENS: { get: fails, put: fails } } as unknown as Env; // what the service uses of it
    const call = async () => (await as(us.apiToken, {}, bindings).get('/webhooks')).status;
    expect(await call()).toBe(200);
    await revoke(us.tokenId);
    expect(await call()).toBe(401);
  });

  it('is shown, and good, if D1 fails once it is stored: nobody could see it again', async () => {
    vi.spyOn(scheduler, 'wait').mockResolvedValue(); // between tries
    let isStored = false;
    const DB = through(env.DB, async (run, statements) => {
      if (isStored) throw new Error('D1 DB is overloaded. Requests queued for too long.');
      isStored = statements.some(({ text }) => text.startsWith('insert into "tokens"'));
      return run();
    });
    const issued = await call('POST', `/operator/accounts/${us.accountId}/tokens`, {
      headers: { authorization: `Bearer ${env.OPERATOR_KEY}` },
      body: { name: 'shown' },
      bindings: { ...env, DB },
    });
    vi.restoreAllMocks();
    const { value } = issued.data as { value: string };
    expect((await as(value).get('/webhooks')).status).toBe(200);
  });

  it('expires', async () => {
    const expiresAt = new Date(Date.now() + hourMs).toISOString();
    const { id, value } = await issueToken(us.accountId, { expiresAt });
    expect((await as(value).get('/webhooks')).status).toBe(200);
    await rows('update tokens set expires_at = ?1 where id = ?2', Date.now() - 1, id);
    expect(await as(value).get('/webhooks')).toMatchObject(unauthenticated);
  });

  it('notes when it was used, once', async () => {
    const lastUsed = () => value('select last_used_at from tokens where id = ?1', us.tokenId);
    expect(await lastUsed()).toBeNull();
    await us.api.get('/webhooks');
    await expect.poll(lastUsed).not.toBeNull();
    const first = await lastUsed();
    await us.api.get('/webhooks');
    expect(await lastUsed()).toBe(first);
  });

  it('of a suspended account is 403 until the account is active again', async () => {
    await changeAccount(us, { status: 'suspended' });
    for (const reply of [await us.api.get('/webhooks'), await us.send(vehicle())])
      expect(reply).toMatchObject({ ...forbidden, reason: 'Account is suspended' });
    await changeAccount(us, { status: 'active' });
    expect((await us.api.get('/webhooks')).status).toBe(200);
  });

  it('may not send in records, nor an ingest key use the API', async () => {
    const refused = await us.api.send(vehicle());
    expect(refused).toMatchObject(forbidden);
    expect(refused).not.toHaveProperty('reason');
    expect(await us.connector.get('/webhooks')).toMatchObject(forbidden);
  });
});

it('a read-only token may only read, whatever the route, also when only the database knows it', async () => {
  const readOnly = await issueReadOnly();
  await env.TOKENS.delete(await hashToken(readOnly));
  const changing = routes.filter((route) => !/^GET | \/(portal|operator|providers)/.test(route));
  expect(changing).toContain('PUT /webhook/:id');
  const headers = { 'x-api-key': readOnly };
  for (const route of changing) {
    const [method = '', path = ''] = route.split(' ');
    const reply = await call(method, path.replace(':id', us.accountId), { headers });
    expect(reply).toMatchObject(forbidden);
  }
  for (const path of ['/webhooks', '/connections', '/trips'])
    expect((await as(readOnly).get(path)).status).toBe(200);
});

const stranger = [{ id: 'k', bytes: new Uint8Array(32) }];
const guess = async (address: string) =>
  call('GET', '/webhooks', {
    headers: { 'x-api-key': await generateToken('api', stranger), 'cf-connecting-ip': address },
  });

/** Has a limit be reached. */
const reached = (name: 'UNKNOWN_LIMIT' | 'OPERATOR_LIMIT' | 'TOKEN_LIMIT') =>
  vi.spyOn(env[name], 'limit').mockResolvedValue({ success: false });

describe('beside others who guess from the same address', () => {
  const address = '203.0.113.99';
  const headers = { 'cf-connecting-ip': address };
  beforeEach(async () => {
    reached('UNKNOWN_LIMIT');
    expect((await guess(address)).status).toBe(429);
  });

  it('a credential of ours works on its first call, also when KV does not know it', async () => {
    const { apiToken } = await world();
    await env.TOKENS.delete(await hashToken(apiToken));
    for (const token of [us.apiToken, apiToken])
      expect((await as(token, headers).get('/webhooks')).status).toBe(200);
  });

  it('people sign in, monitors see the health, and operators work', async () => {
    const { link } = await signIn(us);
    for (const path of [link, '/portal/sign-in'])
      expect((await ask('POST', path, { headers })).status).not.toBe(429);
    expect((await call('GET', '/health', { headers })).status).toBe(200);
    reached('OPERATOR_LIMIT');
    const asOperator = (authorization: string) =>
      call('GET', '/operator/status', { headers: { ...headers, authorization } });
    expect((await asOperator('Bearer wrong')).status).toBe(429);
    expect((await asOperator(`Bearer ${env.OPERATOR_KEY}`)).status).toBe(200);
  });

  it('one from before there was a keyed checksum works at any other address', async () => {
    vi.restoreAllMocks();
    const first = async () => {
      const old = await generateToken('api', stranger);
      await rows('update tokens set hash = ?1 where id = ?2', await hashToken(old), us.tokenId);
      return (await as(old).get('/webhooks')).status;
    };
    expect(await first()).toBe(200);
    reached('TOKEN_LIMIT');
    expect(await first()).toBe(429);
  });
});

it('an ingest key is corrected in KV when a use is recorded, where that missed a change of the connection', async () => {
  const hash = await hashToken(us.connection.ingestKey);
  const read = () => env.TOKENS.get<KnownToken>(hash, { type: 'json' });
  const entry = await read();
  const missed = { ...entry, connection: { ...entry?.connection, tSP: 'Former name' } };
  await env.TOKENS.put(hash, JSON.stringify(missed));
  expect((await us.send(vehicle())).status).toBe(200);
  await expect.poll(read).toEqual(entry);
});

it.each([
  ['none', ''],
  ['rubbish', 'rubbish'],
  ['a wrong checksum', `fds_${'A'.repeat(49)}`],
  ['a wrong prefix', `xyz_${'A'.repeat(49)}`],
])('without a good credential %s is 401 with no I/O', async (_, token) => {
  const kv = vi.spyOn(env.TOKENS, 'get');
  const db = vi.spyOn(env.DB, 'prepare');
  expect(await as(token).get('/webhooks')).toMatchObject(unauthenticated);
  expect(kv).not.toHaveBeenCalled();
  expect(db).not.toHaveBeenCalled();
});

it('one that nobody issued is 401, limited by IPv6 /64, before KV is read', async () => {
  expect(await guess('2001:db8:5:6::')).toMatchObject(unauthenticated);
  const kv = vi.spyOn(env.TOKENS, 'get');
  const limit = reached('UNKNOWN_LIMIT');
  for (const address of ['2001:db8:5:6::', '2001:db8:5:6::d1', '2001:db8:5:7::1'])
    expect((await guess(address)).status).toBe(429);
  const keys = limit.mock.calls.map(([{ key }]) => key);
  expect(new Set(keys)).toEqual(new Set(['2001:db8:5:6::/64', '2001:db8:5:7::/64']));
  expect(kv).not.toHaveBeenCalled();
});

const keyOf = (id: string, byte: number) => ({ id, bytes: new Uint8Array(32).fill(byte) });
const [older, newer, foreign] = [keyOf('k1', 1), keyOf('k2', 2), keyOf('k1', 3)];

it('a credential is recognised by any of the current keys, and by no others', async () => {
  const token = await generateToken('api', [older]);
  expect(await isRecognised(token, [newer, older])).toBe(true);
  for (const keys of [[newer], [foreign]]) expect(await isRecognised(token, keys)).toBe(false);
  for (const other of [token.replace('fds_', 'fdi_'), ''])
    expect(await isRecognised(other, [older])).toBe(false);
});
