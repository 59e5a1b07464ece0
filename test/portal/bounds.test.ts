import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { newSecret } from '../../src/accounts/secrets.ts';
import { base64url } from '../../src/platform/crypto.ts';
import { ask, signIn } from '../support/portal.ts';
import { receiver } from '../support/receiver.ts';
import { as, type WebhookOut, webhookBody, world, worldBefore } from '../support/world.ts';

const us = worldBefore(beforeAll);
beforeAll(async () => {
  receiver();
});

const foreignKeys = { ...env, HEADER_KEYS: `test:${btoa('k'.repeat(32))}` };

describe('D1', () => {
  it('is not asked by a hundred requests with junk for a session or for a sign-in link', async () => {
    const { cookie } = await signIn(us);
    const asked = vi.spyOn(env.DB, 'prepare');
    for (let i = 0; i < 25; i++) {
      const random = base64url(crypto.getRandomValues(new Uint8Array(48)));
      const session = await newSecret(env, 'session');
      const link = await newSecret(env, 'sign-in link');
      for (const junk of ['x', random, link, await newSecret(foreignKeys, 'session')]) {
        const reply = await ask('GET', '/portal/connections', { cookie: `__Host-session=${junk}` });
        expect(reply.headers.get('location')).toBe('/portal/sign-in');
      }
      for (const junk of ['x', random, session, await newSecret(foreignKeys, 'sign-in link')])
        expect((await ask('POST', `/portal/sign-in/${junk}`)).status).toBe(400);
    }
    expect(asked).not.toHaveBeenCalled();
    expect((await ask('GET', '/portal/connections', { cookie })).status).toBe(200);
    expect(asked).toHaveBeenCalled();
    asked.mockRestore();
  });

  it('is asked ten times a minute by one link that has been used, which leaves other links alone', async () => {
    const { link } = await signIn(us);
    const other = await signIn(us);
    const tries = await Promise.all(Array.from({ length: 30 }, () => ask('POST', link)));
    expect(tries.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(20);
    expect(tries.some(({ status }) => status === 429)).toBe(true);
    expect((await ask('POST', other.link)).status).toBe(400);
  });
});

it('a session outlives the rotation of the key that made its checksum, as long as that key is there', async () => {
  const { cookie } = await signIn(us);
  const fresh = `new:${btoa('n'.repeat(32))}`;
  const status = async (HEADER_KEYS: string) =>
    (await ask('GET', '/portal/connections', { cookie, bindings: { ...env, HEADER_KEYS } })).status;
  expect(await status(`${fresh},${env.HEADER_KEYS}`)).toBe(200);
  expect(await status(fresh)).toBe(303);
});

describe('actions in the portal', () => {
  it('are limited for each session, with a page that says so', async () => {
    const { cookie } = await signIn(us);
    const { data } = await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us));
    const path = `/portal/webhooks/${data.id}/replay`;
    const replies = await Promise.all(Array.from({ length: 45 }, () => ask('POST', path, { cookie })));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(await refused[0]?.text()).toContain('Too many requests');
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const action of ['test-event', 'test-accident'])
      expect((await ask('POST', path.replace('replay', action), { cookie })).status).toBe(429);
    const test = { cookie, fields: { do: 'test' } }; // of a new webhook
    expect((await ask('POST', '/portal/webhooks/new', test)).status).toBe(429);
    expect((await ask('GET', path, { cookie })).status).toBe(429); // which counts
    expect((await ask('GET', '/portal/webhooks', { cookie })).status).toBe(200);
    const colleague = await signIn(us);
    expect((await ask('POST', path, { cookie: colleague.cookie })).status).toBe(303);
  });

  it('are limited for an account, however many sessions it has', async () => {
    const them = await world();
    const sessions = await Promise.all(Array.from({ length: 8 }, () => signIn(them)));
    const fields = { email: 'not an address' };
    const replies = await Promise.all(
      sessions.flatMap(({ cookie }) =>
        Array.from({ length: 19 }, () => ask('POST', '/portal/settings/people', { cookie, fields })),
      ),
    );
    expect(replies.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(30);
  });
});
