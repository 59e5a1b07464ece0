import { env } from 'cloudflare:workers';
import { fakeSamsara, samsaraEvent, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import type { Feed } from '#src/extras/providers/connector/connector.ts';
import { notifyAfterMs, quietMs, sendHealthAlerts } from '#src/extras/providers/health-alerts.ts';
import { pull, startPulls } from '#src/extras/providers/pull.ts';
import { samsara as connector } from '#src/extras/providers/samsara/connector.ts';
import { keepEmails } from '#test/support/emails.ts';
import { listenToLog } from '#test/support/log.ts';
import { providerStory, pullAll, pullColumn, pullRun, pullStatus } from '#test/support/provider.ts';
import { samsaraOrigin as origin, samsara } from '#test/support/providers/samsara.ts';
import { rows } from '#test/support/rows.ts';
import { as, call, operator } from '#test/support/world.ts';

const minute = 60_000;

let provider: ReturnType<typeof samsara>;
const tale = providerStory('samsara', () => provider.data.token);
const { connected, connectWith, arrived, events } = tale;
const connect = (more?: object) => connectWith(provider.data.token, [], more);
let emails: ReturnType<typeof keepEmails>;
async function sent() {
  await sendMessages(env, Date.now() + 2 * quietMs);
  return emails.sent();
}

beforeEach(async () => {
  await rows('delete from pulls');
  provider = samsara(tale.hooks);
  emails = keepEmails();
  const email = `ann-${tale.us.accountId}@acme.example`;
  await operator.post(`/operator/accounts/${tale.us.accountId}/users`, { email });
  await rows('update portal_users set confirmed_at = 1');
});

type Listed = { id: string; healthStatus: number; lastPulledAt: string };
const listed = async (id: string) =>
  (await tale.us.api.get<Listed[]>('/connections')).data.find((one) => one.id === id);
const brakes = (word = 'Braking', at = Date.now() + 1) =>
  provider.data.events.push(samsaraEvent(samsaraVehicle(1), word, at));
const pathsCalled = () => provider.calls.map(({ pathname }) => pathname);
const eventsAsked = () => pathsCalled().filter((path) => path === '/safety-events/stream').length;
const tripsFail = (reply: () => Response) => {
  provider.fault = (path) => (path === '/trips/stream' ? reply() : undefined);
};
const adviceOnTrips = async (id: string) =>
  (await pullStatus(id)).feeds.find(({ feed }) => feed === 'trips')?.problem?.advice;
const callAsProvider = async (
  id: string,
  sent: { body?: string; headers?: Record<string, string> } = {},
) => (await call('POST', `/providers/${id}/webhook`, { body: '{}', ...sent })).status;
const secret = 'c2VjcmV0c2VjcmV0';
const setSecret = (id: string) =>
  operator.put(`/operator/connections/${id}/webhook-secret`, { secret });
const suspend = () =>
  operator.patch(`/operator/accounts/${tale.us.accountId}`, { status: 'suspended' });
const replace = (id: string, credential: string) =>
  operator.put(`/operator/connections/${id}/credential`, { credential });

it('says what it is connected to and when it was last pulled, but not with what', async () => {
  const id = await connected();
  const kept = [
    await rows('select * from pulls where connection_id = ?1', id),
    await pullStatus(id),
  ];
  expect(JSON.stringify(kept)).not.toContain(provider.data.token);
  expect(await pullStatus(id)).toMatchObject({ state: 'pulling', organisation: 'Acme Trucking' });
  const connection = await listed(id);
  expect(connection?.healthStatus).toBe(1);
  expect(Date.parse(connection?.lastPulledAt ?? '')).toBeGreaterThan(Date.now() - minute);
});

it.each([
  [
    { baseUrl: 'https://10.0.0.1' },
    'baseUrl must be an https URL of a public host, without credentials',
  ],
  [{ baseUrl: 'mars' }, 'baseUrl must be an https URL or eu or ca'],
  [{ baseUrl: '__proto__' }, 'baseUrl must be an https URL or eu or ca'],
  [{ historyDays: 366 }, 'historyDays must be a whole number from 0 to 365'],
  [
    { credential: 'a b c d e f' },
    'credential The API token must be one word of 8 to 500 characters, as Samsara shows it.',
  ],
  [{ provider: 'constructor' }, 'provider must be samsara'],
  [
    { provider: 'geotab', credential: '{"Server":"a","database":"b","user":"c","password":"d"}' },
    'one of its names is not a part here, did you mean server?',
  ],
])('refuses %j', async (more, message) => {
  await expect(connect(more)).rejects.toThrow(message);
});

it('tells people to try again where nothing is saved, since we do not', async () => {
  provider.fault = () => new Response('', { status: 500 });
  expect((await tale.tryToConnect()).message).toMatch(
    /^credential Samsara .+\. Try again later\.$/,
  );
});

it('stops when Samsara refuses the credential, says so, and goes on with a new one', async () => {
  const id = await connected();
  const old = provider.data.token;
  provider.data.token = 'samsara_api_made_up_2';
  await pullRun(id);
  expect((await listed(id))?.healthStatus).toBe(3);
  expect((await pullStatus(id)).state).toBe('refused');
  provider.calls.length = 0;
  await pull(env, [id]);
  expect(provider.calls).toEqual([]);
  await Promise.allSettled([sendHealthAlerts(env), sendHealthAlerts(env)]); // as after a lost lease
  expect(await sendHealthAlerts(env)).toBe(0);
  expect(await sent()).toHaveLength(1);
  const [mail] = await sent();
  expect(mail?.subject).toBe('Acme Trucking is unavailable');
  expect(mail?.text).toContain(
    'refuses the API token. Create a new one with these permissions: Read Vehi',
  );
  expect(mail?.text).not.toContain(old);

  expect((await replace(id, 'samsara_api_wrong')).status).toBe(400);
  brakes();
  expect((await replace(id, provider.data.token)).status).toBe(200);
  // At once, though its feeds were to wait.
  await expect.poll(() => events(id), { timeout: 20_000 }).toHaveLength(1);
  await pullAll(id);
  expect((await listed(id))?.healthStatus).toBe(1);
  const drivers = provider.calls.findLast(({ pathname }) => pathname === '/fleet/drivers');
  expect(drivers?.searchParams.has('updatedAfterTime')).toBe(true); // its cursors are kept
  expect(await sendHealthAlerts(env, Date.now() + quietMs)).toBe(1);
  expect((await sent())[1]?.subject).toBe('Acme Trucking works again');
});

it('tells of what may pass by itself only after a while', async () => {
  const id = await connected();
  tripsFail(() => Response.json({}, { status: 403 }));
  await pullRun(id);
  expect((await listed(id))?.healthStatus).toBe(4);
  expect(await sendHealthAlerts(env)).toBe(0);
  expect(await sendHealthAlerts(env, Date.now() + notifyAfterMs)).toBe(1);
  const text = expect.stringContaining(
    'may not read this. It needs these permissions: Read Vehicles',
  );
  expect(await sent()).toMatchObject([{ subject: 'Acme Trucking is incomplete', text }]);
});

it("is pulled at once when Samsara's webhook calls with its signature", async () => {
  const id = await connected([2]);
  const isSigned =
    connector.webhook && vi.spyOn(connector.webhook, 'isSigned').mockResolvedValue(false);
  brakes();
  const before = eventsAsked();
  isSigned?.mockResolvedValue(true);
  expect(await callAsProvider(id)).toBe(401); // there is no secret yet
  await setSecret(id);
  expect([await callAsProvider(tale.us.connection.id), await callAsProvider('x')]).toEqual([
    401, 401,
  ]);
  isSigned?.mockResolvedValue(false);
  expect(await callAsProvider(id)).toBe(401);
  const body = new TextEncoder().encode('{}');
  expect(isSigned).toHaveBeenLastCalledWith(expect.any(Headers), body, secret);
  expect(eventsAsked()).toBe(before);
  isSigned?.mockResolvedValue(true);
  expect(await callAsProvider(id, { body: 'x'.repeat(1024 * 1024 + 1) })).toBe(413);
  expect(await callAsProvider(id)).toBe(200);
  await arrived(1);
  // The next pull is asked for at most once in two seconds.
  await rows('update pulls set claimed_until = 9e15, due_at = 9e15'); // so that nothing is pulled meanwhile
  await callAsProvider(id);
  const asked = await pullColumn(id, 'due_at');
  expect(asked).toBeLessThan(9e15);
  await callAsProvider(id);
  expect(await pullColumn(id, 'due_at')).toBe(asked);
});

it('loads three months of history, or as much as is chosen', async () => {
  const daysOf = async (historyDays: number | undefined) => {
    await rows('delete from pulls'); // an account connects a credential once
    return pullColumn(await connect({ historyDays }), 'history_days');
  };
  expect([await daysOf(undefined), await daysOf(365)]).toEqual([90, 365]);
});

it('goes on with its other feeds when one brings what nobody has thought of', async () => {
  const id = await connected();
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const trips = vi.spyOn(connector.feeds.trips as Feed<never>, 'changes');
  trips.mockRejectedValue(new TypeError('x is not a function'));
  provider.calls.length = 0;
  await pullRun(id);
  expect(eventsAsked()).toBe(1);
  expect(await pullColumn(id, 'claimed_until')).toBe(0);
  expect(await adviceOnTrips(id)).toBe(
    'Samsara returns something that we cannot read yet. We will keep trying.',
  );
  expect(log.mock.calls.flat().join()).toContain('A pull was interrupted');
});

it.each([
  [
    'goes on with that of the same organisation, whatever it is called now',
    { organisation: 'Acme Ltd' },
    2,
  ],
  ['begins anew with that of another one of the same name', { organisationId: '1' }, 3],
])('%s', async (_, changes, vehicles) => {
  const id = await connected();
  Object.assign(provider.data, changes);
  provider.data.vehicles.push(samsaraVehicle(3));
  expect((await replace(id, provider.data.token)).status).toBe(200);
  await pullAll(id);
  expect(await tale.vehicles(id)).toHaveLength(vehicles);
});

it.each([
  ['UNKNOWN_LIMIT', 401],
  ['PROVIDER_CALL_LIMIT', 429],
] as const)(
  'counts wrong calls by connection and, more of them, by address: %s',
  async (name, others) => {
    const headers = { 'cf-connecting-ip': `198.51.100.${others - 400}` };
    const { id } = tale.us.connection;
    const limit = vi.spyOn(env[name], 'limit').mockImplementation(async ({ key }) => ({
      success: !key.endsWith(name === 'PROVIDER_CALL_LIMIT' ? headers['cf-connecting-ip'] : id),
    }));
    expect(await callAsProvider(id, { headers })).toBe(429);
    limit.mockClear();
    expect(await callAsProvider(id, { headers })).toBe(429);
    expect(limit).not.toHaveBeenCalled();
    expect(await callAsProvider(crypto.randomUUID(), { headers })).toBe(others);
    expect((await as('fds_unknown', headers).get('/connections')).status).toBe(401);
  },
);

it('is left alone while it is paused or its account is suspended', async () => {
  const id = await connected();
  await operator.post(`/operator/connections/${id}/pause`, {});
  expect(await startPulls(env, Date.now() + minute)).toBe(0);
  provider.calls.length = 0;
  await operator.post(`/operator/connections/${id}/resume`, {});
  await expect.poll(eventsAsked, { timeout: 20_000 }).toBeGreaterThan(0);
  await suspend();
  provider.calls.length = 0;
  await pullRun(id);
  expect(provider.calls).toEqual([]);
  expect(await startPulls(env)).toBe(0); // nor do suspended accounts stand in the way of others
});

it.each([
  ['it is paused', (id: string) => operator.post(`/operator/connections/${id}/pause`, {})],
  ['its account is suspended', () => suspend()],
])('writes nothing more once %s in the middle of a page, and reports no error', async (_, stop) => {
  const id = await connected();
  brakes();
  const serve = fakeSamsara(provider.data);
  tale.hooks.serves(origin, async (request) => {
    await stop(id);
    return serve(request);
  });
  const log = listenToLog();
  await pullRun(id);
  expect(await rows('select 1 from safety_events where connection_id = ?1', id)).toEqual([]);
  expect(await pullColumn(id, 'feeds')).not.toContain('"problem"');
  expect(log.lines('error')).toEqual([]);
});

it('limits how often its webhook is called, though the calls are signed', async () => {
  const id = await connected();
  await setSecret(id);
  if (connector.webhook) vi.spyOn(connector.webhook, 'isSigned').mockResolvedValue(true);
  expect(await callAsProvider(id)).toBe(200);
  const limit = vi
    .spyOn(env.TOKEN_LIMIT, 'limit')
    .mockImplementation(async ({ key }) => ({ success: !key.includes(id) }));
  expect(await callAsProvider(id)).toBe(429);
  limit.mockClear();
  expect([await callAsProvider(id), limit.mock.calls]).toEqual([429, []]); // nor is the body read again
});

it('works for a connection in one run only, and in another once that is lost', async () => {
  const id = await connected();
  await rows('update pulls set due_at = 0');
  provider.calls.length = 0;
  await Promise.all([pull(env, [id]), pull(env, [id]), pull(env, [id])]);
  expect(eventsAsked()).toBe(1);
  const claimed = Date.now() + 45_000; // by a run that was killed
  await rows('update pulls set due_at = 0, claimed_until = ?1', claimed);
  expect(await startPulls(env)).toBe(0);
  expect(await startPulls(env, claimed + 1000)).toBe(1);
});

it('counts the words that nothing maps', async () => {
  const id = await connect();
  const at = Date.now() + 1;
  for (const [i, word] of ['SomethingNew', 'SomethingNew', 'Braking'].entries())
    brakes(word, at + i);
  await pullAll(id);
  expect((await pullStatus(id)).unmapped).toEqual([{ word: 'SomethingNew', count: 2 }]);
});

it('goes with its connection', async () => {
  const id = await connected([], { name: 'Cargo' });
  await operator.post(`/operator/connections/${id}/deletion`, { name: 'Cargo' });
  expect(await pullColumn(id, 'connection_id')).toBeUndefined();
  provider.calls.length = 0;
  await pull(env, [id]);
  expect(provider.calls).toEqual([]);
});
