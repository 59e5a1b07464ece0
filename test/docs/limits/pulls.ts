import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { fakeSamsara, type SamsaraData, samsaraVehicle } from '../../../src/dev/fakes/samsara.ts';
import { newId } from '../../../src/platform/db/ids.ts';
import { tellHealth } from '../../../src/providers/health-alerts.ts';
import { pull } from '../../../src/providers/pull.ts';
import { signIn } from '../../support/portal.ts';
import { connect, pullAll, turn } from '../../support/provider.ts';
import { receiver } from '../../support/receiver.ts';
import { rows } from '../../support/rows.ts';
import { call, operator, world } from '../../support/world.ts';
import { dayMs, type Hits, letters, minuteMs, times, us } from './setting.ts';

export const pullHits: Hits = {
  'connections of an account': async (limit) => {
    const them = await world();
    await rows(
      `insert into connections (id, account_id, provider, tsp, created_at, updated_at)
       select 'many ' || value, ?1, 'motive', 'Motive', 0, 0 from json_each(?2)`,
      them.accountId,
      JSON.stringify(times(limit - 2, (i) => i)),
    );
    const add = () =>
      operator.post(`/operator/accounts/${them.accountId}/connections`, { provider: 'motive' });
    expect((await add()).status).toBe(200);
    expect((await add()).status).toBe(400);
    await rows(`delete from connections where id like 'many %'`);
  },
  'connections of an account with one credential': async (limit) => {
    const { token } = provider();
    for (const _ of times(limit, () => 0)) await connect(us, 'samsara', token);
    await expect(connect(us, 'samsara', token)).rejects.toThrow('already');
  },
  'days of history that a connection loads': async (usual, most) => {
    const id = await connect(us, 'samsara', provider().token, { historyDays: undefined });
    expect(await rows('select history_days as days from pulls where connection_id = ?1', id)).toEqual([
      { days: usual },
    ]);
    await connect(us, 'samsara', provider().token, { historyDays: most });
    await expect(connect(us, 'samsara', provider().token, { historyDays: (most ?? 0) + 1 })).rejects.toThrow(
      'historyDays',
    );
  },
  'what a provider may answer with': async (bytes, values) => {
    const { token, hooks } = provider();
    const id = await connect(us, 'samsara', token);
    await pullAll(id);
    const answer = async (size: number, more: number[] = []) => {
      const reply = JSON.stringify({ data: [], pagination: { endCursor: 'x', hasNextPage: false }, more });
      hooks.serves(origin, () => new Response(reply.padEnd(size)));
      await turn(id);
      const { data } = await operator.get<{ feeds: { problem: { advice: string } | null }[] }>(
        `/operator/connections/${id}/pull`,
      );
      return data.feeds.map(({ problem }) => problem?.advice);
    };
    expect((await answer(bytes)).filter(Boolean)).toEqual([]);
    expect(await answer(bytes + 1)).toContain('Samsara answers with more than 2 MiB. We keep trying.');
    const ones = Array(values).fill(1);
    expect(await answer(0, ones)).toContain('Samsara answers with more than 100,000 values. We keep trying.');
    expect((await answer(0, ones.slice(10))).filter(Boolean)).toEqual([]);
  },
  "age of a call of a provider's webhook, by its own time": async (minutes) => {
    const ring = await ringer();
    expect(await ring({ at: Date.now() - minutes * minuteMs + 5000 })).toBe(200);
    expect(await ring({ at: Date.now() - minutes * minuteMs - 5000 })).toBe(401);
  },
  "body of a provider's webhook": async (bytes) => {
    const ring = await ringer();
    expect(await ring({ body: letters(bytes) })).toBe(200);
    expect(await ring({ body: letters(bytes + 1) })).toBe(413);
  },
  "pulls that a provider's webhook can ask for": async (_, seconds) => {
    const ring = await ringer();
    const due = async () =>
      Number((await rows('select due_at as at from pulls order by connected_at desc'))[0]?.at);
    const began = Date.now();
    vi.spyOn(env.DELIVERIES, 'sendBatch').mockResolvedValue({} as never); // nothing is pulled meanwhile
    await ring({});
    const first = await due();
    expect(first).toBeGreaterThanOrEqual(began);
    await ring({});
    expect(await due()).toBe(first);
    await rows('update pulls set due_at = due_at - ?1', (seconds ?? 0) * 1000);
    await ring({});
    expect(await due()).toBeGreaterThanOrEqual(first);
  },
  'time that a connection is late or degraded before we email': async (minutes) => {
    const since = await degraded();
    expect(await tellHealth(env, since + minutes * minuteMs - 1)).toBe(0);
    expect(await tellHealth(env, since + minutes * minuteMs)).toBe(1);
  },
  'emails about a connection': async (hourly) => {
    const since = await degraded();
    expect(await tellHealth(env, since + dayMs)).toBe(hourly);
    await rows('update pulls set health = 1');
    expect(await tellHealth(env, since + dayMs + 60 * minuteMs - 1)).toBe(0);
    expect(await tellHealth(env, since + dayMs + 60 * minuteMs)).toBe(hourly);
  },
};

const origin = 'https://api.samsara.com';

/** A made-up Samsara with a token of its own. */
function provider(more: Partial<SamsaraData> = {}) {
  const hooks = receiver();
  const token = `samsara_api_${newId()}`;
  const nothing = { organisation: 'Acme', vehicles: [], drivers: [], trips: [], events: [] };
  const serve = fakeSamsara({ ...nothing, token, ...more }, { perPage: 500 });
  hooks.serves(origin, serve);
  return { hooks, token, serve };
}

/** A connection whose webhook can be rung. */
async function ringer() {
  await rows('delete from pulls');
  const id = await connect(us, 'samsara', provider().token);
  await pullAll(id);
  const key = new Uint8Array(32).fill(7);
  const headers = { authorization: `Bearer ${env.OPERATOR_KEY}` };
  await call('PUT', `/operator/connections/${id}/webhook-secret`, {
    headers,
    body: { secret: key.toBase64() },
  });
  const hmac = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return async ({ at = Date.now(), body = '{}' }: { at?: number; body?: string }) => {
    const seconds = String(Math.floor(at / 1000));
    const text = new TextEncoder().encode(`v1:${seconds}:${body}`);
    const signature = `v1=${new Uint8Array(await crypto.subtle.sign('HMAC', hmac, text)).toHex()}`;
    const signed = { 'x-samsara-timestamp': seconds, 'x-samsara-signature': signature };
    return (await call('POST', `/providers/${id}/webhook`, { headers: signed, body })).status;
  };
}

/** A connection of somebody who is emailed is degraded from now on. Returns since when. */
async function degraded(): Promise<number> {
  await rows('delete from pulls');
  const them = await world();
  await signIn(them);
  const { token, hooks, serve } = provider({ vehicles: [samsaraVehicle(1)] });
  const id = await connect(them, 'samsara', token);
  await pullAll(id);
  hooks.serves(origin, (request) =>
    request.url.includes('/trips/') ? Response.json({}, { status: 403 }) : serve(request),
  );
  await rows('update pulls set due_at = 0, claimed_until = 0');
  await rows(
    `update pulls set feeds = (select json_group_object(key, json(json_remove(value, '$.pulledAt'))) from json_each(feeds))`,
  );
  await pull(env, [id]);
  const [row] = await rows('select health, health_at as at from pulls where connection_id = ?1', id);
  expect(row?.health).toBe(4);
  return Number(row?.at);
}
