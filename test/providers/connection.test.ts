import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import {
  type Fault,
  fakeSamsara,
  type SamsaraData,
  samsaraEvent,
  samsaraVehicle,
} from '../../src/dev/fakes/samsara.ts';
import { maxReplyBytes, maxValues } from '../../src/providers/call.ts';
import type { Feed } from '../../src/providers/connector.ts';
import { notifyAfterMs, quietMs, sendHealthAlerts } from '../../src/providers/health-alerts.ts';
import { pull, startPulls } from '../../src/providers/pull.ts';
import { samsara } from '../../src/providers/samsara/connector.ts';
import { connect, pullAll, read, turn } from '../support/provider.ts';
import { receiver } from '../support/receiver.ts';
import { as, call, operator, type World, webhookBody, world } from '../support/world.ts';

const origin = 'https://api.samsara.com';
const minute = 60_000;

let us: World;
let hooks: ReturnType<typeof receiver>;
let data: SamsaraData;
let fault: Fault;
let calls: string[];
let urls: string[];
let mails: { to: string; subject: string; text: string }[];

beforeEach(async () => {
  await env.DB.prepare('delete from pulls').run();
  hooks = receiver();
  us = await world();
  data = {
    organisation: 'Acme Trucking',
    token: `samsara_api_${crypto.randomUUID()}`,
    vehicles: [samsaraVehicle(1)],
    drivers: [],
    trips: [],
    events: [],
  };
  fault = () => undefined;
  calls = [];
  const serve = fakeSamsara(data, {
    fault: (path, n) => {
      calls.push(path);
      return fault(path, n);
    },
  });
  urls = [];
  hooks.serves(origin, (request) => {
    urls.push(request.url);
    return serve(request);
  });
  mails = [];
  vi.spyOn(env.EMAIL, 'send').mockImplementation(async (mail) => {
    mails.push(mail as never);
    return { messageId: 'm' };
  });
  await operator.post(`/operator/accounts/${us.accountId}/users`, {
    email: `ann-${us.accountId}@acme.example`,
  });
  await env.DB.prepare('update portal_users set confirmed_at = 1').run();
  return () => vi.restoreAllMocks();
});

type Status = {
  state: string;
  organisation: string;
  lastPulledAt: string | null;
  feeds: { feed: string; problem: { advice: string; nextAt: string } | null; history: unknown }[];
  unmapped: { word: string; count: number }[];
};
const statusOf = async (id: string) => (await operator.get<Status>(`/operator/connections/${id}/pull`)).data;
const listed = async (id: string) => {
  const { data } = await as(us.apiToken).get<{ id: string; healthStatus: number; lastPulledAt: string }[]>(
    '/connections',
  );
  return data.find((one) => one.id === id);
};
const column = (id: string, name: string) =>
  env.DB.prepare(`select ${name} from pulls where connection_id = ?1`).bind(id).first(name);
const events = () => calls.filter((path) => path === '/safety-events/stream').length;

it('says what it is connected to, and when it was last pulled', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  expect(await statusOf(id)).toMatchObject({ state: 'pulling', organisation: 'Acme Trucking' });
  const connection = await listed(id);
  expect(connection?.healthStatus).toBe(1);
  expect(Date.parse(connection?.lastPulledAt ?? '')).toBeGreaterThan(Date.now() - minute);
});

it('keeps the credential where nobody reads it', async () => {
  const id = await connect(us, 'samsara', data.token);
  const row = await env.DB.prepare('select * from pulls where connection_id = ?1').bind(id).first();
  expect(JSON.stringify(row)).not.toContain(data.token);
  expect(JSON.stringify(await statusOf(id))).not.toContain(data.token);
});

it('connects a credential once, and says so', async () => {
  await connect(us, 'samsara', data.token);
  await expect(connect(us, 'samsara', data.token)).rejects.toThrow(
    'This account has a connection with this credential already',
  );
});

it.each([
  [
    { baseUrl: 'http://api.samsara.com' },
    'baseUrl must be an https URL of a public host, without credentials',
  ],
  [{ baseUrl: 'https://10.0.0.1' }, 'baseUrl must be an https URL of a public host, without credentials'],
  [{ baseUrl: 'mars' }, 'baseUrl must be an https URL or eu or ca'],
  [{ historyDays: 366 }, 'historyDays must be a whole number from 0 to 365'],
  [{ historyDays: 1.5 }, 'historyDays must be a whole number from 0 to 365'],
  [
    { credential: 'a b c d e f' },
    'credential The token must be one word of 8 to 500 characters, as Samsara shows it.',
  ],
  [{ provider: 'otapi' }, 'provider must be samsara'],
])('refuses %j', async (more, message) => {
  await expect(connect(us, 'samsara', data.token, more)).rejects.toThrow(message);
});

it('reads another region where it is told to', async () => {
  hooks.serves('https://api.eu.samsara.com', fakeSamsara(data));
  hooks.serves(origin, () => Promise.reject(new Error('called the wrong region')));
  const id = await connect(us, 'samsara', data.token, { baseUrl: 'eu' });
  await pullAll(id);
  expect(await read(us, id, '/vehicles')).toHaveLength(1);
});

it('waits as long as Samsara says when it is called too often, for all of its feeds', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  fault = () => Response.json({ message: 'limit' }, { status: 429, headers: { 'retry-after': '0.40235' } });
  calls = [];
  await turn(id);
  expect(calls).toHaveLength(1);
  const wait = Number(await column(id, 'due_at')) - Date.now();
  expect(wait).toBeLessThanOrEqual(403);
  expect((await listed(id))?.healthStatus).toBe(1);
});

it('stops when Samsara refuses the credential, tells people what to do, and goes on with a new one', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  const old = data.token;
  data.token = `samsara_api_${crypto.randomUUID()}`;
  await turn(id);
  expect((await listed(id))?.healthStatus).toBe(3);
  expect((await statusOf(id)).state).toBe('refused');
  calls = [];
  await pull(env, [id]);
  expect(calls).toEqual([]);
  expect(await sendHealthAlerts(env)).toBe(1);
  expect(await sendHealthAlerts(env)).toBe(0);
  expect(mails[0]?.subject).toBe('Acme Trucking is unavailable');
  expect(mails[0]?.text).toContain(
    'Samsara refuses the API token. Create a new one with these scopes: Read Vehicles',
  );
  expect(mails[0]?.text).not.toContain(old);

  const path = `/operator/connections/${id}/credential`;
  const put = (credential: string) =>
    call('PUT', path, { headers: { authorization: `Bearer ${env.OPERATOR_KEY}` }, body: { credential } });
  expect((await put('samsara_api_wrong')).status).toBe(400);
  expect((await put(data.token)).message).toBe('Credential replaced');
  data.events.push(samsaraEvent(data.vehicles[0] ?? {}, 'Braking', Date.now() + 1));
  await pullAll(id);
  expect((await listed(id))?.healthStatus).toBe(1);
  expect(urls.findLast((url) => url.includes('/fleet/drivers'))).toContain('updatedAfterTime='); // its cursors are kept
  expect(await sendHealthAlerts(env, Date.now() + quietMs)).toBe(1);
  expect(mails[1]?.subject).toBe('Acme Trucking works again');
});

it('tells of what may pass by itself only after a while, and of what has passed not at all', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  fault = (path) => (path === '/trips/stream' ? Response.json({}, { status: 403 }) : undefined);
  await turn(id);
  expect((await listed(id))?.healthStatus).toBe(4);
  expect(await sendHealthAlerts(env)).toBe(0);
  expect(await sendHealthAlerts(env, Date.now() + notifyAfterMs)).toBe(1);
  expect(mails[0]?.subject).toBe('Acme Trucking is incomplete');
  expect(mails[0]?.text).toContain('The API token may not read this. It needs these scopes: Read Vehicles');
});

it("is pulled at once when Samsara's webhook rings with its signature, and by nothing else", async () => {
  const id = await connect(us, 'samsara', data.token);
  const bytes = new Uint8Array(32).fill(7);
  await call('PUT', `/operator/connections/${id}/webhook-secret`, {
    headers: { authorization: `Bearer ${env.OPERATOR_KEY}` },
    body: { secret: bytes.toBase64() },
  });
  await pullAll(id);
  await as(us.apiToken).post('/webhook', webhookBody(us, { connectionIds: [id] }));
  data.events.push(samsaraEvent(data.vehicles[0] ?? {}, 'Braking', Date.now() + 1));
  const body = JSON.stringify({ eventType: 'AlertIncident', data: { safetyEvent: 'made up' } });
  const ring = async (
    more: { at?: number; key?: Uint8Array<ArrayBuffer>; body?: string; to?: string } = {},
  ) => {
    const seconds = String(Math.floor((more.at ?? Date.now()) / 1000));
    const key = await crypto.subtle.importKey(
      'raw',
      more.key ?? bytes,
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['sign'],
    );
    const text = new TextEncoder().encode(`v1:${seconds}:${body}`);
    const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, text)).toHex();
    const headers = { 'x-samsara-timestamp': seconds, 'x-samsara-signature': `v1=${signature}` };
    return call('POST', `/providers/${more.to ?? id}/webhook`, { headers, body: more.body ?? body });
  };
  const before = events();
  expect((await ring({ key: new Uint8Array(32) })).status).toBe(401);
  expect((await ring({ at: Date.now() - 6 * minute })).status).toBe(401);
  expect((await ring({ body: `${body} ` })).status).toBe(401);
  expect((await ring({ to: us.connection.id })).status).toBe(401);
  expect((await ring({ to: 'x' })).status).toBe(401);
  expect(events()).toBe(before);
  expect((await ring({ body: 'x'.repeat(1024 * 1024 + 1) })).status).toBe(413);
  expect((await ring()).status).toBe(200);
  await vi.waitFor(() => expect(hooks.got).toHaveLength(1), { timeout: 20_000 });
  // The next pull is asked for at most once in two seconds.
  const dueAt = () =>
    env.DB.prepare('select due_at from pulls where connection_id = ?1').bind(id).first('due_at');
  await env.DB.prepare('update pulls set claimed_until = 9e15, due_at = 9e15').run(); // so that nothing is pulled meanwhile
  await ring();
  const asked = await dueAt();
  expect(asked).toBeLessThan(9e15);
  await ring();
  expect(await dueAt()).toBe(asked);
});

it('loads as much history as is chosen, up to a year', async () => {
  const daysOf = async (historyDays: number | undefined) => {
    await env.DB.prepare('delete from pulls').run(); // an account connects a credential once
    const id = await connect(us, 'samsara', data.token, { historyDays });
    return env.DB.prepare('select history_days from pulls where connection_id = ?1')
      .bind(id)
      .first('history_days');
  };
  expect([await daysOf(undefined), await daysOf(365)]).toEqual([90, 365]);
  await expect(daysOf(366)).rejects.toThrow('historyDays');
});

it('is not read when it is more than 2 MiB or 100,000 values', async () => {
  const id = await connect(us, 'samsara', data.token);
  const adviceAfter = async (size: number, values: number) => {
    const reply = {
      data: [],
      pagination: { endCursor: 'x', hasNextPage: false },
      more: Array(values).fill(1),
    };
    hooks.serves(origin, () => new Response(JSON.stringify(reply).padEnd(size)));
    await turn(id);
    const { data } = await operator.get<{ feeds: { problem?: { advice: string } }[] }>(
      `/operator/connections/${id}/pull`,
    );
    return data.feeds.flatMap(({ problem }) => problem?.advice ?? []);
  };
  expect(await adviceAfter(maxReplyBytes, maxValues - 10)).toEqual([]);
  expect(await adviceAfter(maxReplyBytes + 1, 0)).toContain(
    'Samsara answers with more than 2 MiB. We keep trying.',
  );
  expect(await adviceAfter(0, maxValues)).toContain(
    'Samsara answers with more than 100,000 values. We keep trying.',
  );
});

it('goes on with its other feeds when one brings what nobody has thought of, and says so', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const trips = vi.spyOn(samsara.feeds.trips as Feed<never>, 'changes');
  trips.mockRejectedValue(new TypeError('x is not a function'));
  data.events.push(samsaraEvent(data.vehicles[0] ?? {}, 'Braking', Date.now() + 1));
  calls = [];
  await turn(id);
  expect(events()).toBe(1);
  expect(await column(id, 'claimed_until')).toBe(0);
  const { feeds } = await statusOf(id);
  expect(feeds.find(({ feed }) => feed === 'trips')?.problem?.advice).toBe(
    'Samsara gives us something that we cannot read yet. We keep trying.',
  );
  expect(log.mock.calls.flat().join()).toContain('A pull was interrupted');
});

it('begins anew with the credential of another organisation, whose cursors are its own', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  data.organisation = 'Other Trucking';
  data.vehicles.push(samsaraVehicle(2)); // not changed for long
  const path = `/operator/connections/${id}/credential`;
  const headers = { authorization: `Bearer ${env.OPERATOR_KEY}` };
  expect((await call('PUT', path, { headers, body: { credential: data.token } })).status).toBe(200);
  await pullAll(id);
  expect(await read(us, id, '/vehicles')).toHaveLength(2);
  expect(await statusOf(id)).toMatchObject({ organisation: 'Other Trucking' });
});

it('shows what Samsara says of a mistake, but not if that repeats the credential', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  const adviceOn = async (message: string) => {
    fault = (path) => (path === '/trips/stream' ? Response.json({ message }, { status: 400 }) : undefined);
    await turn(id);
    return (await statusOf(id)).feeds.find(({ feed }) => feed === 'trips')?.problem?.advice;
  };
  expect(await adviceOn('No such tag')).toBe('Samsara answers 400: No such tag. We keep trying.');
  expect(await adviceOn(`Not for ${data.token}`)).toBe('Samsara answers 400. We keep trying.');
});

it('asks nothing of the database for an address that has rung without a signature too often', async () => {
  const headers = { 'cf-connecting-ip': '198.51.100.7' };
  const ring = () => call('POST', `/providers/${us.connection.id}/webhook`, { headers, body: {} });
  const limit = vi.spyOn(env.UNKNOWN_LIMIT, 'limit').mockResolvedValue({ success: false });
  expect((await ring()).status).toBe(429);
  limit.mockClear();
  expect((await ring()).status).toBe(429);
  expect(limit).not.toHaveBeenCalled();
});

it('is left alone while it is paused or its account is suspended, and by whoever has lost the claim', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  await operator.post(`/operator/connections/${id}/pause`, {});
  calls = [];
  expect(await startPulls(env, Date.now() + minute)).toBe(0);
  await operator.post(`/operator/connections/${id}/resume`, {});
  await vi.waitFor(() => expect(events()).toBeGreaterThan(0), { timeout: 20_000 });
  await operator.patch(`/operator/accounts/${us.accountId}`, { status: 'suspended' });
  calls = [];
  await turn(id);
  expect(calls).toEqual([]);
  expect(await startPulls(env)).toBe(0); // nor do suspended accounts stand in the way of others
});

it('writes nothing more once it is paused in the middle of a page', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  data.events.push(samsaraEvent(data.vehicles[0] ?? {}, 'Braking', Date.now() + 1));
  const serve = fakeSamsara(data);
  hooks.serves(origin, async (request) => {
    await operator.post(`/operator/connections/${id}/pause`, {});
    return serve(request);
  });
  await turn(id);
  const day = 86_400_000;
  const range = `from=${new Date(Date.now() - day).toISOString()}&to=${new Date(Date.now() + day).toISOString()}`;
  expect(await read(us, id, `/safety-events?${range}`)).toEqual([]);
  expect((await statusOf(id)).state).toBe('paused');
});

it('works for a connection in one turn only, and in another once that is lost', async () => {
  const id = await connect(us, 'samsara', data.token);
  await pullAll(id);
  await env.DB.prepare('update pulls set due_at = 0 where connection_id = ?1').bind(id).run();
  calls = [];
  await Promise.all([pull(env, [id]), pull(env, [id]), pull(env, [id])]);
  expect(events()).toBe(1);
  const later = Date.now() + 46_000; // what a turn that died has claimed
  await env.DB.prepare('update pulls set due_at = 0, claimed_until = ?2 where connection_id = ?1')
    .bind(id, Date.now() + 45_000)
    .run();
  expect(await startPulls(env)).toBe(0);
  expect(await startPulls(env, later)).toBe(1);
});

it('counts the words that nothing maps', async () => {
  const id = await connect(us, 'samsara', data.token);
  const at = Date.now() + 1;
  const [truck = {}] = data.vehicles;
  data.events.push(
    samsaraEvent(truck, 'SomethingNew', at),
    samsaraEvent(truck, 'SomethingNew', at + 1),
    samsaraEvent(truck, 'Braking', at + 2),
  );
  await pullAll(id);
  expect((await statusOf(id)).unmapped).toEqual([{ word: 'SomethingNew', count: 2 }]);
});

it('goes with its connection', async () => {
  const id = await connect(us, 'samsara', data.token, { name: 'Cargo' });
  await pullAll(id);
  await operator.post(`/operator/connections/${id}/deletion`, { name: 'Cargo' });
  expect(await column(id, 'connection_id')).toBeNull();
  calls = [];
  await pull(env, [id]);
  expect(calls).toEqual([]);
});
