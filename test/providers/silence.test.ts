import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { noteSilences } from '../../src/providers/silence.ts';
import { ask } from '../support/portal.ts';
import { as, operator, vehicle, type World, world } from '../support/world.ts';

const hour = 3_600_000;

let us: World;
let subjects: string[];

beforeEach(async () => {
  await env.DB.prepare('delete from tokens').run();
  us = await world();
  subjects = [];
  vi.spyOn(env.EMAIL, 'send').mockImplementation(async (mail) => {
    subjects.push((mail as unknown as { subject: string }).subject);
    return { messageId: 'm' };
  });
  const email = `ann-${us.accountId}@acme.example`;
  await operator.post(`/operator/accounts/${us.accountId}/users`, { email });
  const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', { email });
  await ask('POST', new URL(data.url).pathname);
  return () => vi.restoreAllMocks();
});

const health = async () =>
  (await as(us.apiToken).get<{ healthStatus: number }[]>('/connections')).data[0]?.healthStatus;

/** A connector calls; when it did is noted behind the reply. */
async function send() {
  await as(us.connection.ingestKey).send(vehicle());
  await vi.waitFor(async () => {
    const used = await env.DB.prepare(
      "select max(last_used_at) as at from tokens where scope = 'ingest'",
    ).first('at');
    expect(used).toBeGreaterThan(0);
  });
}

it('becomes unavailable once its connector has not called for a day, and healthy when it calls again', async () => {
  await send();
  const now = Date.now();
  expect(await noteSilences(env, now + 24 * hour)).toBe(0);
  expect(await noteSilences(env, now + 26 * hour)).toBe(1);
  expect(await health()).toBe(3);
  expect(subjects).toEqual(['Motive is silent']);
  expect(await noteSilences(env, now + 27 * hour)).toBe(0); // and people are told once
  expect(await noteSilences(env, now + hour)).toBe(1);
  expect(await health()).toBe(1);
  expect(subjects).toEqual(['Motive is silent', 'Motive sends again']);
});

it('is left alone while it has never sent anything', async () => {
  expect(await noteSilences(env, Date.now() + 90 * 24 * hour)).toBe(0);
  expect(await health()).toBe(1);
});
