import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { generateToken } from '../../../src/accounts/tokens/format.ts';
import { pruneChanges } from '../../../src/fleet/changes/prune.ts';
import { encodeCursor } from '../../../src/platform/db/cursor.ts';
import { newId } from '../../../src/platform/db/ids.ts';
import { type ChangesReply, changes, noteOthers } from '../../support/follower.ts';
import { ask, signIn } from '../../support/portal.ts';
import { rows } from '../../support/rows.ts';
import { as, call, driver, type Reply, webhookBody, world } from '../../support/world.ts';
import {
  addDeliveries,
  api,
  connector,
  create,
  dayMs,
  type Hits,
  letters,
  minuteMs,
  refusedAfter,
  refusesMore,
  times,
  us,
} from './setting.ts';

/** A page of the feed finds a driver behind fewer other changes than this, and leaves it to the next page behind as many. */
async function looksThroughChanges(limit: number, query: string) {
  for (const ahead of [limit - 1, limit]) {
    const them = await world(); // its connection is a change
    await noteOthers(them, ahead - 1);
    await as(them.connection.ingestKey).send(driver());
    const found = ({ data }: ChangesReply) => data.filter(({ kind }) => kind === 'driver').length;
    const first = await changes(them.apiToken, query);
    expect(found(first)).toBe(ahead < limit ? 1 : 0);
    if (found(first) === 0)
      expect(found(await changes(them.apiToken, `${query}&cursor=${first.next}`))).toBe(1);
  }
}

export const apiHits: Hits = {
  'calls with one API token, ingest key or portal session': async (limit) => {
    const them = await world();
    const { cookie } = await signIn(them);
    const replies: Reply[] = [];
    await refusedAfter(limit, async () => {
      const reply = await as(them.apiToken).get('/webhooks');
      replies.push(reply);
      return reply;
    });
    const refused = replies.find(({ status }) => status === 429);
    expect(refused).toMatchObject({ message: 'Rate limit exceeded', retryAfter: expect.any(Number) });
    expect(refused?.headers.get('retry-after')).toBe(String(refused?.retryAfter));
    expect(refused?.retryAfter).toBeLessThanOrEqual(60);
    await refusedAfter(limit, () => as(them.connection.ingestKey).post('/ingest', ''));
    await refusedAfter(limit, () => ask('GET', '/portal/nowhere', { cookie }));
    const { headers } = await api().get('/webhooks');
    expect(headers.get('ratelimit-policy')).toBe(`"token";q=${limit};w=60`);
  },
  'calls with tokens that we do not recognise, from one address': async (limit) => {
    const stranger = [{ id: 'theirs', bytes: new Uint8Array(32) }];
    await refusedAfter(limit, async () =>
      call('GET', '/webhooks', {
        headers: { 'x-api-key': await generateToken('api', stranger), 'cf-connecting-ip': '203.0.113.7' },
      }),
    );
  },
  '`GET /health` from one address': async (limit) => {
    // Addresses of one IPv6 /64 count as one.
    await refusedAfter(limit, (i) =>
      call('GET', '/health', { headers: { 'cf-connecting-ip': `2001:db8:1:2:${i.toString(16)}::1` } }),
    );
    const neighbour = { 'cf-connecting-ip': '2001:db8:1:3::1' };
    expect((await call('GET', '/health', { headers: neighbour })).status).not.toBe(429);
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
  'page of a list': async (limit) => {
    const them = await world();
    await as(them.connection.ingestKey).send(...times(5, (i) => driver({ sourceId: `d${i}` })));
    const aQuarter = limit / 4 - 1000;
    await rows('update drivers set name = ?1 where account_id = ?2', letters(aQuarter), them.accountId);
    const { data, next } = await as(them.apiToken).get<unknown[]>('/drivers');
    expect(data).toHaveLength(4);
    expect(JSON.stringify(data).length).toBeLessThanOrEqual(limit);
    expect((await as(them.apiToken).get<unknown[]>(`/drivers?cursor=${next}`)).data).toHaveLength(1);
  },
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

    await looksThroughChanges(limit, 'kinds=driver');

    const { id } = (await create({})).data;
    await addDeliveries(id, limit, 'delivered');
    await addDeliveries(id, 1, 'cancelled');
    const cancelled = `/deliveries?webhookId=${id}&status=cancelled`;
    const none = await api().get(cancelled);
    expect(none.data).toEqual([]);
    expect((await api().get(`${cancelled}&cursor=${none.next}`)).data).toHaveLength(1);
    await rows('delete from deliveries where webhook_id = ?1', id);
  },
  'calls of `POST /ingest` that a page of `/changes` covers': (limit) =>
    looksThroughChanges(limit, 'limit=500'),
  'time that changes are kept, and age of a cursor of `/changes`': async (days) => {
    const them = await world();
    const identity = JSON.stringify(['/changes', them.accountId, undefined, undefined]);
    const cursorOf = (ms: number) => encodeCursor([Date.now() - ms], identity);
    await rows(
      'update changes set seq = ?2 where account_id = ?1',
      them.accountId,
      Date.now() - days * dayMs + minuteMs,
    );
    await pruneChanges(env);
    expect((await changes(them.apiToken, `cursor=${cursorOf(days * dayMs - minuteMs)}`)).status).toBe(200);
    expect((await changes(them.apiToken, `cursor=${cursorOf(days * dayMs + minuteMs)}`)).status).toBe(400);
    const left = () => rows('select 1 from changes where account_id = ?1', them.accountId);
    expect(await left()).toHaveLength(1);
    await pruneChanges(env, Date.now() + 2 * minuteMs);
    expect(await left()).toEqual([]);
  },
};
