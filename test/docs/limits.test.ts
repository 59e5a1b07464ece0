import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../src/db/ids.ts';
import { accountActivity } from '../../src/deliveries/activity.ts';
import { attempt } from '../../src/deliveries/attempt.ts';
import {
  circuitAfter,
  circuitFirstMs,
  circuitLongestMs,
  giveUpAfterMs,
  nextAfter,
  schedule,
} from '../../src/deliveries/policy.ts';
import { prune } from '../../src/deliveries/prune.ts';
import { replay } from '../../src/deliveries/replay.ts';
import page from '../../src/docs/guides/limits.md?raw';
import { generateToken } from '../../src/tokens/format.ts';
import { pruneTokens } from '../../src/tokens/prune.ts';
import { ask, signIn } from '../support/portal.ts';
import { receiver } from '../support/receiver.ts';
import {
  as,
  call,
  driver,
  operator,
  safetyEvent,
  vehicle,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '../support/world.ts';

/** Numbers in the order in which a row names them, sizes in bytes. */
type Numbers = [number, ...number[]];
/** Reaches a limit, which must still be fine, and goes beyond it, which must not. */
type Hit = (...limits: Numbers) => Promise<void>;

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

let us: World;
let cookie: string;
beforeAll(async () => {
  us = await world();
  cookie = (await signIn(us)).cookie;
});
beforeEach(() => {
  receiver();
  return () => vi.restoreAllMocks();
});

const api = () => as(us.apiToken);
const connector = () => as(us.connection.ingestKey);
const letters = (count: number) => 'a'.repeat(count);
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const rows = async (query: string, ...values: unknown[]) =>
  (
    await env.DB.prepare(query)
      .bind(...values)
      .all<Record<string, unknown>>()
  ).results;

/** `send` takes what has the limit's size, and refuses with `status` what is one bigger. */
async function refusesMore(
  limit: number,
  status: number,
  send: (size: number) => Promise<{ status: number }>,
) {
  expect(await send(limit)).toMatchObject({ status: 200 });
  expect(await send(limit + 1)).toMatchObject({ status });
}

/** Of two records, with a field at its limit and one beyond, the second is rejected. */
async function rejectsMore(record: (size: number) => object, limit: number) {
  const { data } = await connector().send(vehicle(), record(limit), record(limit + 1));
  expect(data.rejected).toMatchObject([{ index: 2 }]);
}

/** Calls until one is refused: the limiter's minute may have begun anew in between. */
async function refusedAfter(limit: number, make: (i: number) => Promise<{ status: number }>) {
  await vi.waitFor(
    async () => {
      const statuses = (await Promise.all(times(limit + 1, make))).map(({ status }) => status);
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    },
    { timeout: 30_000, interval: 10 },
  );
}

const create = (changes: object) => api().post<WebhookOut>('/webhook', webhookBody(us, changes));

/** Adds deliveries of a webhook, in a status. */
const addDeliveries = (webhookId: string, count: number, status: string) =>
  rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?4)
     insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at, give_up_at)
     select ?1, substr(?2, 1, 24) || printf('%012x', i), ?3, 'e' || i, 0, ?5, 0, 0 from n`,
    webhookId,
    newId(),
    us.accountId,
    count,
    status,
  );

/** Each row of the page by its first cell, and how it is hit. A new limit is a row there and a line here. */
const hits: Record<string, Hit> = {
  // The API
  'calls with one token': async (limit) => {
    const { apiToken } = await world();
    await refusedAfter(limit, () => as(apiToken).get('/webhooks'));
    const { headers } = await api().get('/webhooks');
    expect(headers.get('ratelimit-policy')).toBe(`"token";q=${limit};w=60`);
  },
  'calls with unknown tokens from one address': async (limit) => {
    const stranger = [{ id: 'theirs', bytes: new Uint8Array(32) }];
    await refusedAfter(limit, async () =>
      call('GET', '/webhooks', {
        headers: { 'x-api-key': await generateToken('api', stranger), 'cf-connecting-ip': '203.0.113.7' },
      }),
    );
  },
  'body of a request': (limit) =>
    refusesMore(limit, 413, (size) => {
      const body = JSON.stringify(webhookBody(us));
      return api().post('/webhook', body + ' '.repeat(size - body.length));
    }),
  'errors that a reply names': async (limit) => {
    const { errors } = await create({ connectionIds: times(limit + 1, () => 'x') });
    expect(errors).toHaveLength(limit);
  },
  '`limit` of a list': async (byDefault, most) => {
    await connector().send(...times(most ?? 0, (i) => driver({ sourceId: `d${i}` })));
    await connector().send(driver({ sourceId: 'one more' }));
    expect((await api().get('/drivers')).data).toHaveLength(byDefault);
    expect((await api().get(`/drivers?limit=${most}`)).data).toHaveLength(most ?? 0);
    const beyond = await api().get('/drivers?limit=100000');
    expect(beyond.data).toHaveLength(most ?? 0);
    expect(beyond.next).toBeDefined();
  },
  'values of `vehicleIds`, `driverIds` and `eventTypes`': async (limit) => {
    for (const name of ['vehicleIds', 'driverIds'])
      await refusesMore(limit, 400, (size) => api().get(`/trips?${name}=${times(size, newId)}`));
    // More types than there are cannot be sent: a repeated one counts once.
  },
  'any other text parameter of a list': (limit) =>
    refusesMore(limit, 400, (size) => api().get(`/drivers?licenseState=${letters(size)}`)),
  'rows that a page looks through for your filters': async (limit) => {
    const them = await world();
    const many = times(limit, (i) => driver({ sourceId: `d${i}` }));
    const send = as(them.connection.ingestKey).send;
    await send(...many.slice(0, limit / 2));
    await send(...many.slice(limit / 2));
    await send(driver({ sourceId: 'the last', licenseState: 'CO' }));
    const { data, next } = await as(them.apiToken).get<unknown[]>('/drivers?licenseState=CO');
    expect(data).toEqual([]);
    const rest = await as(them.apiToken).get<unknown[]>(`/drivers?licenseState=CO&cursor=${next}`);
    expect(rest.data).toHaveLength(1);
  },

  // Records in
  'records of a call': (limit) =>
    refusesMore(limit, 400, (size) => connector().send(...times(size, () => driver()))),
  'body of `POST /ingest`': (limit) =>
    refusesMore(limit, 413, (size) => {
      const body = JSON.stringify({ records: [driver()] });
      return connector().post('/ingest', body + ' '.repeat(size - body.length));
    }),
  '`sourceId`': (limit) => rejectsMore((size) => driver({ sourceId: letters(size) }), limit),
  '`groups` of a vehicle': async (most, length = 0) => {
    await rejectsMore((size) => vehicle({ groups: times(size, (i) => `g${i}`) }), most);
    await rejectsMore((size) => vehicle({ groups: [letters(size)] }), length);
  },
  '`incidentTypes` of an event': async (most, length = 0) => {
    await rejectsMore((size) => safetyEvent({ incidentTypes: times(size, (i) => `t${i}`) }), most);
    await rejectsMore((size) => safetyEvent({ incidentTypes: [letters(size)] }), length);
  },
  '`recipients` of an event': (limit) =>
    rejectsMore((size) => safetyEvent({ recipients: times(size, (i) => `p${i}@example.com`) }), limit),
  '`name` of a vehicle or driver': async (limit) => {
    await rejectsMore((size) => vehicle({ name: letters(size) }), limit);
    await rejectsMore((size) => driver({ name: letters(size) }), limit);
  },

  // Webhooks
  'webhooks of an account': async (limit) => {
    const them = await world();
    const add = () => as(them.apiToken).post<WebhookOut>('/webhook', webhookBody(them));
    const { id } = (await add()).data;
    await rows(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?2)
       insert into webhooks (id, account_id, url, normalised_url, http_verb, headers, notification_types, created_at)
       select id || i, account_id, url || i, url || i, http_verb, headers, notification_types, created_at
       from webhooks, n where id = ?1`,
      id,
      limit - 2,
    );
    expect(await add()).toMatchObject({ status: 200 });
    expect(await add()).toMatchObject({ status: 400, message: expect.stringContaining(`at most ${limit}`) });
  },
  'connections of a webhook': async (limit) => {
    const { errors } = await create({ connectionIds: times(limit + 1, newId) });
    expect(errors).toMatchObject([{ field: 'connectionIds' }]);
    // They fit into a body: those of others are refused as such.
    const { message, errors: others } = await create({ connectionIds: times(limit, newId) });
    expect([message, others]).toEqual(['Invalid connection ids', undefined]);
  },
  '`url`': (limit) =>
    refusesMore(limit, 400, (size) => create({ url: 'https://receiver.example.com/'.padEnd(size, 'u') })),
  '`headers`': (limit) =>
    refusesMore(limit, 400, (size) =>
      create({ headers: Object.fromEntries(times(size, (i) => [`X-${i}`, 'v'])) }),
    ),
  '`headers` in all, as JSON': (limit) =>
    refusesMore(limit, 400, (size) => create({ headers: { X: letters(size - '{"X":""}'.length) } })),
  'name of a header': (limit) =>
    refusesMore(limit, 400, (size) => create({ headers: { [letters(size)]: 'v' } })),

  // Deliveries
  'time for your receiver to answer': async (seconds) => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    await attempt(...aCall());
    expect(timeout).toHaveBeenCalledWith(seconds * 1000);
    // test/journey/receivers.test.ts waits for it.
  },
  'what we read of its answer': async (limit) => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          sent += 512;
          controller.enqueue(new Uint8Array(512).fill(97));
        },
      },
      { highWaterMark: 0 },
    );
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(endless));
    await attempt(...aCall());
    expect(sent).toBe(limit);
  },
  'what we show of its answer': async (limit) => {
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(letters(limit + 1)));
    expect(await attempt(...aCall())).toMatchObject({ answer: letters(limit) });
  },
  'attempts of a delivery': async (most, hours) => {
    const failed = { result: 'timeout' } as const;
    expect(nextAfter(failed, most - 1, 0, 0.5).status).toBe('pending');
    expect(nextAfter(failed, most, 0, 0.5).status).toBe('failed');
    const allMs = schedule.reduce<number>((sum, ms) => sum + ms, 0);
    expect(Math.round(allMs / 3_600_000)).toBe(hours);
  },
  '`Retry-After` that we honour': async (factor) => {
    const busy = { result: 'status', status: 503, answer: '', retryAfter: 365 * dayMs } as const;
    expect(nextAfter(busy, 1, 0, 0.5)).toEqual({ status: 'pending', at: factor * schedule[0] });
  },
  'attempts that may fail in a row': async (limit) => expect(circuitAfter).toBe(limit),
  'pause of a receiver that keeps failing': async (seconds, minutes = 0) =>
    expect([circuitFirstMs, circuitLongestMs]).toEqual([seconds * 1000, minutes * minuteMs]),
  'time that a delivery waits for a paused receiver': async (days) =>
    expect(giveUpAfterMs).toBe(days * dayMs),
  'failed deliveries replayed at a time': async (limit) => {
    const { id } = (await create({})).data;
    await addDeliveries(id, limit + 1, 'failed');
    const bindings = {
      ...env,
      DELIVERIES: { sendBatch: async () => {} } as unknown as typeof env.DELIVERIES,
    };
    const caller = { accountId: us.accountId, operator: true } as const;
    expect(await replay(bindings, caller, id, {})).toEqual({ replayed: limit, more: true });
    expect(await replay(bindings, caller, id, {})).toEqual({ replayed: 1, more: false });
    await rows('delete from deliveries where webhook_id = ?1', id);
  },
  'time that finished deliveries are kept': async (days) => {
    await rows('delete from deliveries');
    await addDeliveries(newId(), 1, 'delivered');
    expect(await prune(env, Date.now() + days * dayMs - minuteMs)).toBe(0);
    expect(await prune(env, Date.now() + days * dayMs + minuteMs)).toBe(1);
  },

  // The portal
  'sign-in links for one email address': async (limit) => {
    const { email } = await signIn(us);
    const held = async () =>
      (
        await rows(
          'select 1 from sign_in_links where user_id = (select id from portal_users where email = ?1)',
          email,
        )
      ).length;
    for (let i = 0; i <= limit; i++) await ask('POST', '/portal/sign-in', { fields: { email } });
    await vi.waitFor(async () => expect(await held()).toBeGreaterThanOrEqual(limit));
    expect(await held()).toBeLessThanOrEqual(limit);
  },
  'time that a sign-in link works': async (minutes) => {
    const { email } = await signIn(us);
    await operator.post('/operator/sign-in-links', { email });
    const [link] = await rows('select max(expires_at) as at from sign_in_links');
    expect(Math.round((Number(link?.at) - Date.now()) / minuteMs)).toBe(minutes);
  },
  'time that a session lasts': async (days) => {
    await signIn(us);
    const [session] = await rows('select max(expires_at) as at from sessions');
    expect(Math.round((Number(session?.at) - Date.now()) / dayMs)).toBe(days);
  },
  'what a form sends': async (limit) => {
    const body = (size: number) => `name=`.padEnd(size, '+');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const post = (size: number) =>
      ask('POST', '/portal/settings/tokens', { cookie, headers, body: body(size) });
    expect((await post(limit)).status).not.toBe(413);
    expect((await post(limit + 1)).status).toBe(413);
  },
  'name of a token': async (limit) => {
    const post = (size: number) =>
      ask('POST', '/portal/settings/tokens', { cookie, fields: { name: letters(size), expires: '' } });
    expect((await post(limit)).status).toBe(200);
    expect((await post(limit + 1)).status).toBe(400);
  },
  'email address of a person': async (limit) => {
    const post = async (size: number) => {
      const fields = { email: `p@${letters(60)}.${letters(60)}.`.padEnd(size - 4, 'b').concat('.com') };
      return (await ask('POST', '/portal/settings/people', { cookie, fields })).text();
    };
    expect(await post(limit)).not.toContain(`at most ${limit} characters`);
    expect(await post(limit + 1)).toContain(`at most ${limit} characters`);
  },
  'hours that the chart shows': async (limit) => {
    const caller = { accountId: us.accountId, operator: true } as const;
    expect((await accountActivity(env, caller)).hours).toHaveLength(limit);
  },

  // Operators
  'name of an account or a connection': async (limit) => {
    await refusesMore(limit, 400, (size) => operator.post('/operator/accounts', { name: letters(size) }));
    await refusesMore(limit, 400, (size) =>
      operator.post(`/operator/accounts/${us.accountId}/connections`, {
        provider: 'motive',
        name: letters(size),
      }),
    );
  },
  'name of a provider': (limit) =>
    refusesMore(limit, 400, (size) =>
      operator.post(`/operator/accounts/${us.accountId}/connections`, { provider: letters(size) }),
    ),
  'deliveries listed at a time': async (limit) => {
    const { id } = (await create({})).data;
    await addDeliveries(id, limit + 1, 'delivered');
    const { data } = await operator.get<unknown[]>(`/operator/deliveries?webhookId=${id}&limit=${limit + 1}`);
    expect(data).toHaveLength(limit);
  },
  'time that revoked and expired tokens are kept': async (days) => {
    const them = await world();
    await operator.delete(`/operator/tokens/${them.tokenId}`);
    expect(await pruneTokens(env, Date.now() + days * dayMs - minuteMs)).toBe(0);
    expect(await pruneTokens(env, Date.now() + days * dayMs + minuteMs)).toBe(1);
  },
};

/** An attempt at a receiver. */
const aCall = (): Parameters<typeof attempt> => [
  { url: 'https://receiver.example.com/', httpVerb: 'POST', headers: {} },
  { id: newId(), attempt: 1, type: 2, data: '{}' },
];

type Row = { what: string; limit: string };

/** The rows of the page's tables: their first and second cells. */
const tableRows = (markdown: string): Row[] =>
  [...markdown.matchAll(/^\| (.+?) \| (.+?) \|/gm)]
    .map(([, what = '', limit = '']) => ({ what, limit }))
    .filter(({ what }) => what !== 'What');

/** The numbers of a cell: `8 KiB` is 8192. */
function numbersOf(cell: string): Numbers {
  const units: Record<string, number> = { KiB: 1024, MiB: 1024 * 1024 };
  const [first, ...others] = [...cell.matchAll(/(\d[\d,]*)(?: (KiB|MiB))?/g)].map(
    ([, digits = '', unit = '']) => Number(digits.replaceAll(',', '')) * (units[unit] ?? 1),
  );
  if (first === undefined) throw new Error(`no number in "${cell}"`);
  return [first, ...others];
}

const limits = tableRows(page);

it('every row of the page is hit, and everything that is hit is on the page', () => {
  expect(limits.map(({ what }) => what).sort()).toEqual(Object.keys(hits).sort());
});

/** What another change is about to bring: each of these must fail until it is here, and then leave this list. */
const pending = ['connections of a webhook'];

describe('the limit on', () => {
  const hit = ({ what, limit }: Row) => hits[what]?.(...numbersOf(limit));
  it.each(limits.filter(({ what }) => !pending.includes(what)))('$what: $limit', { timeout: 60_000 }, hit);
  it.fails.each(limits.filter(({ what }) => pending.includes(what)))('$what: $limit, not yet', hit);
});
