import { env } from 'cloudflare:workers';
import { transaction } from '#src/core/platform/db/database.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { fakeSamsara, samsaraEvent, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { metrics } from '#src/extras/providers/metrics.ts';
import { pull, startPulls } from '#src/extras/providers/pull.ts';
import { samsara as connector } from '#src/extras/providers/samsara/connector.ts';
import { as, call, changeAccount, listenToLog, operator, ownRows, rows } from '#test/support.ts';
import { samsara, samsaraOrigin } from './fleets/samsara.ts';
import { providerStory } from './support.ts';

let provider: ReturnType<typeof samsara>;
const tale = providerStory('samsara', () => provider.data.token);
const { connected, arrived, events, accidents, pullAll, pullRun, pullStatus, pullColumn } = tale;

beforeEach(async () => {
  await rows('delete from pulls');
  provider = samsara(tale.hooks);
});

type Listed = { id: string; healthStatus: number; lastPulledAt: string };
const listed = async () =>
  (await tale.us.api.get<Listed[]>('/connections')).data.find(({ id }) => id === tale.id);
const brakes = (word = 'Braking', at = Date.now() + 1) =>
  provider.data.events.push(samsaraEvent(samsaraVehicle(1), word, at));
const eventsAsked = () =>
  provider.calls.filter(({ pathname }) => pathname === '/safety-events/stream').length;
const callAsProvider = async (
  sent: { body?: string; headers?: Record<string, string> } = {},
  id = tale.id,
) => (await call('POST', `/providers/${id}/webhook`, { body: '{}', ...sent })).status;
/** A path of operators, of the connection. */
const ofIt = (what: string) => `/operator/connections/${tale.id}/${what}`;
const secret = 'c2VjcmV0c2VjcmV0';
const setSecret = () => operator.put(ofIt('webhook-secret'), { secret });
const suspend = () => changeAccount(tale.us, { status: 'suspended' });
const replace = (credential: string) => operator.put(ofIt('credential'), { credential });

it('says when it was last pulled, but not with what', async () => {
  await connected();
  const status = await pullStatus();
  expect(status.state).toBe('pulling');
  expect(JSON.stringify(status)).not.toContain(provider.data.token);
  const { healthStatus, lastPulledAt = '' } = (await listed()) ?? {};
  expect(healthStatus).toBe(1);
  expect(Date.parse(lastPulledAt)).toBeGreaterThan(Date.now() - 60_000);
});

it.each([
  [{ baseUrl: 'https://10.0.0.1' }, 'baseUrl must be an https URL of a public host'],
  [{ baseUrl: 'mars' }, 'baseUrl must be an https URL or eu or ca'],
  [{ baseUrl: '__proto__' }, 'baseUrl must be an https URL or eu or ca'],
  [{ provider: 'constructor' }, 'provider must be samsara'],
  [{ credential: '' }, 'credential is required with historyDays'],
  [{ credential: '', historyDays: null, baseUrl: 'eu' }, 'credential is required with baseUrl'],
])('refuses %j', async (more, message) => {
  await expect(tale.connect([], more)).rejects.toThrow(message);
});

it("has the provider's name that operators have chosen in its deliveries", async () => {
  await connected([2], { tSP: 'Acme Cams' });
  brakes();
  await pullAll();
  expect(await events()).toMatchObject([{ tSP: 'Acme Cams' }]);
});

it('tells people to try again where nothing is saved, since we do not', async () => {
  provider.fault = () => new Response('', { status: 500 });
  expect((await tale.tryToConnect()).message).toMatch(
    /^credential Samsara .+\. Try again later\.$/,
  );
});

it("is pulled at once when Samsara's webhook calls with its signature", async () => {
  await connected([2]);
  const isSigned = connector.webhook && vi.spyOn(connector.webhook, 'isSigned');
  isSigned?.mockResolvedValue(true);
  brakes();
  const before = eventsAsked();
  expect(await callAsProvider()).toBe(401); // there is no secret yet
  await setSecret();
  for (const id of [tale.us.connection.id, 'x']) expect(await callAsProvider({}, id)).toBe(401);
  isSigned?.mockResolvedValue(false);
  expect(await callAsProvider()).toBe(401);
  const body = new TextEncoder().encode('{}');
  expect(isSigned).toHaveBeenLastCalledWith(expect.any(Headers), body, secret);
  expect(eventsAsked()).toBe(before);
  isSigned?.mockResolvedValue(true);
  expect(await callAsProvider({ body: 'x'.repeat(1024 * 1024 + 1) })).toBe(413);
  expect(await callAsProvider()).toBe(200);
  await arrived(1);
  // What follows a run that goes on is asked for once.
  await rows(
    "update pulls set claim = 'x', claimed_until = ?1, due_at = 9e15",
    Date.now() + 45_000,
  );
  await callAsProvider();
  const asked = await pullColumn('due_at');
  expect(asked).toBeLessThan(9e15);
  await callAsProvider();
  expect(await pullColumn('due_at')).toBe(asked);
});

it('is pulled once more when Samsara calls while what it called for is being read', async () => {
  await connected([2]);
  await setSecret();
  if (connector.webhook) vi.spyOn(connector.webhook, 'isSigned').mockResolvedValue(true);
  const serve = fakeSamsara(provider.data);
  let count = 0;
  tale.hooks.serves(samsaraOrigin, async (request) => {
    const reply = await serve(request);
    if (count++ > 0) return reply;
    brakes();
    await callAsProvider();
    return reply;
  });
  await callAsProvider();
  await arrived(1);
});

it('loads three months of history, or as much as is chosen', async () => {
  const daysOf = async (historyDays: number | undefined) => {
    await rows('delete from pulls'); // an account connects a credential once
    await tale.connect([], { historyDays });
    return pullColumn('history_days');
  };
  expect([await daysOf(undefined), await daysOf(365)]).toEqual([90, 365]);
});

it('goes on with its other feeds when one brings what nobody has thought of', async () => {
  await connected();
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { trips } = connector.feeds;
  if (trips) vi.spyOn(trips, 'changes').mockRejectedValue(new TypeError('x is not a function'));
  provider.calls.length = 0;
  await pullRun();
  expect(eventsAsked()).toBe(1);
  expect(await pullColumn('claimed_until')).toBe(0);
  const advice = expect.stringContaining('something that we cannot read yet');
  expect(await tale.problems()).toMatchObject([{ advice }]);
  expect(log.mock.calls.flat().join()).toContain('A pull was interrupted');
});

it('goes on with its other feeds when one returns the same page for ever', async () => {
  const pagination = { endCursor: 'x', hasNextPage: true };
  provider.fault = ({ pathname }) =>
    pathname === '/fleet/vehicles' ? Response.json({ data: [], pagination }) : undefined;
  await tale.connect();
  await pullRun();
  expect(eventsAsked()).toBe(1);
  const advice = expect.stringContaining('the same page again');
  expect(await tale.problems()).toContainEqual(expect.objectContaining({ advice }));
});

it('is pulled each minute, and says what is wrong, while none of its history can be read', async () => {
  provider.fault = ({ searchParams }) =>
    searchParams.has('endTime') ? new Response('', { status: 503 }) : undefined;
  await tale.connect([2], { historyDays: 30 });
  await pullRun();
  for (const count of [1, 2]) {
    brakes('Braking', Date.now() + count);
    await rows('update pulls set due_at = 0 where connection_id = ?1', tale.id);
    await pull(env, [tale.id]);
    await arrived(count);
  }
  const advice = 'Samsara returns 503 for history. We will keep trying.';
  expect(await tale.problems()).toMatchObject([{ advice }, { advice }]);
});

it.each([
  [
    'goes on with that of the same organisation, whatever it is called now',
    { organisation: 'Acme Ltd' },
    [2, 1],
  ],
  [
    'begins anew, and in silence, with that of another one of the same name',
    { organisationId: '1' },
    [3, 0],
  ],
])('%s', async (_, changes, found) => {
  await connected([2]);
  Object.assign(provider.data, changes);
  provider.data.vehicles.push(samsaraVehicle(3));
  brakes('Braking', Date.now());
  expect((await replace(provider.data.token)).status).toBe(200);
  await pullAll();
  const notified = await rows(
    'select 1 from webhook_connections w join deliveries d using (webhook_id) where w.connection_id = ?1',
    tale.id,
  );
  expect([(await tale.vehicles()).length, notified.length]).toEqual(found);
  expect(await events()).toHaveLength(1);
});

it.each([
  ['UNKNOWN_LIMIT', 401],
  ['PROVIDER_CALL_LIMIT', 429],
] as const)(
  'counts wrong calls by connection and, more of them, by address: %s',
  async (name, others) => {
    const headers = { 'cf-connecting-ip': `198.51.100.${others - 400}` };
    tale.id = tale.us.connection.id;
    const limit = vi.spyOn(env[name], 'limit').mockImplementation(async ({ key }) => ({
      success: !key.endsWith(
        name === 'PROVIDER_CALL_LIMIT' ? headers['cf-connecting-ip'] : tale.id,
      ),
    }));
    expect(await callAsProvider({ headers })).toBe(429);
    limit.mockClear();
    expect(await callAsProvider({ headers })).toBe(429);
    expect(limit).not.toHaveBeenCalled();
    expect(await callAsProvider({ headers }, crypto.randomUUID())).toBe(others);
    expect((await as('fds_unknown', headers).get('/connections')).status).toBe(401);
  },
);

it.each(['60', '0', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
  'is called again after a limit of %j, and no sooner for a webhook, but for people',
  async (wait) => {
    await connected();
    await setSecret();
    if (connector.webhook) vi.spyOn(connector.webhook, 'isSigned').mockResolvedValue(true);
    const headers = { 'retry-after': wait };
    provider.fault = () => new Response('', { status: 429, headers });
    expect(await pullRun()).toBe(false);
    provider.calls.length = 0;
    expect(await callAsProvider()).toBe(200);
    await pull(env, [tale.id]);
    expect(provider.calls).toEqual([]);
    expect(await pullColumn('due_at')).toBeGreaterThan(Date.now()); // nothing is late
    await operator.post(`/operator/connections/${tale.id}/pull`, {});
    await expect.poll(eventsAsked).toBeGreaterThan(0);
  },
);

it('is left alone while it is paused or its account is suspended', async () => {
  await connected();
  await operator.post(ofIt('pause'), {});
  expect(await startPulls(env, Date.now() + 60_000)).toBe(0);
  provider.calls.length = 0;
  await operator.post(ofIt('resume'), {});
  await expect.poll(eventsAsked).toBeGreaterThan(0);
  await suspend();
  provider.calls.length = 0;
  await pullRun();
  expect(provider.calls).toEqual([]);
  expect(await startPulls(env)).toBe(0); // nor do suspended accounts stand in the way of others
  const db = openDatabase(env);
  const due = await transaction(db, metrics.measure(db, Date.now()));
  expect(due).toEqual([{ fleet_pulls_due: 0, fleet_pull_oldest_due_seconds: 0 }]);
});

it.each([
  ['it is paused', () => operator.post(ofIt('pause'), {})],
  ['its account is suspended', () => suspend()],
])('writes nothing more once %s in the middle of a page, and reports no error', async (_, stop) => {
  await connected();
  brakes();
  provider.fault = async () => void (await stop());
  const log = listenToLog();
  await pullRun();
  expect(await ownRows(tale.us, 'safety_events')).toEqual([]);
  expect(await pullColumn('feeds')).not.toContain('"problem"');
  expect(log.lines('error')).toEqual([]);
});

it('limits how often its webhook is called, though the calls are signed', async () => {
  await connected();
  await setSecret();
  if (connector.webhook) vi.spyOn(connector.webhook, 'isSigned').mockResolvedValue(true);
  expect(await callAsProvider()).toBe(200);
  const limit = vi
    .spyOn(env.TOKEN_LIMIT, 'limit')
    .mockImplementation(async ({ key }) => ({ success: !key.includes(tale.id) }));
  expect(await callAsProvider()).toBe(429);
  limit.mockClear();
  expect([await callAsProvider(), limit.mock.calls]).toEqual([429, []]); // nor is the body read again
});

it('works for a connection in one run only, and in another once that is lost', async () => {
  await connected();
  await rows('update pulls set due_at = 0');
  provider.calls.length = 0;
  await Promise.all([1, 2, 3].map(() => pull(env, [tale.id])));
  expect(eventsAsked()).toBe(1);
  const claimed = Date.now() + 45_000; // by a run that was killed
  await rows('update pulls set due_at = 0, claimed_until = ?1', claimed);
  expect(await startPulls(env)).toBe(0);
  expect(await startPulls(env, claimed + 1000)).toBe(1);
});

it.each(['pull', 'resume'])(
  'has no feed wait when people %s it, also during a run',
  async (how) => {
    await connected();
    const refused = () => new Response('', { status: 403 });
    provider.fault = ({ pathname }) => (pathname === '/trips/stream' ? refused() : undefined);
    await pullRun();
    expect(await tale.problems()).toHaveLength(1);
    provider.fault = async () => {
      provider.fault = undefined;
      await operator.post(ofIt(how), {});
      return undefined;
    };
    brakes();
    await rows('update pulls set due_at = 0 where connection_id = ?1', tale.id);
    await pull(env, [tale.id]);
    await expect.poll(tale.problems).toEqual([]);
  },
);

describe('what an account may add a day', () => {
  const allow = (recordsPerDay: number | null) => changeAccount(tale.us, { recordsPerDay });

  it('leaves as much again for all that comes with an accident of a provider', async () => {
    provider.data.vehicles.push(...[3, 4, 5].map((n) => samsaraVehicle(n)));
    await connected();
    await allow(5);
    const reviewed = { eventState: 'reviewed' };
    provider.data.events.push(samsaraEvent(samsaraVehicle(6), 'Crash', Date.now() + 1, reviewed));
    await pullAll();
    expect([await accidents(), await events()]).toMatchObject([[{}], [{}]]);
  });

  it('makes a connection that pulls wait with its cursor and say why', async () => {
    await allow(0);
    await connected();
    const why = 'The account has used up its records of today';
    expect(JSON.stringify(await pullStatus())).toContain(why);
    await allow(null);
    await pullAll();
    expect(JSON.stringify(await pullStatus())).not.toContain(why);
    expect(await tale.vehicles()).toHaveLength(2);
  });
});
