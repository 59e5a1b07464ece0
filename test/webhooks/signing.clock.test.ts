import { env } from 'cloudflare:workers';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import {
  bothSignMs,
  importKey,
  maxSecrets,
  newSecret,
  sealSecret,
  signatureHeaders,
  signingKeys,
} from '../../src/webhooks/signing.ts';
import { settled } from '../support/deliveries.ts';
import { ask, pageAfter, signIn } from '../support/portal.ts';
import type { Got } from '../support/receiver.ts';
import { rows } from '../support/rows.ts';
import { story } from '../support/story.ts';
import { as, type WebhookOut, webhookBody } from '../support/world.ts';

const tale = story();
type Signed = WebhookOut & { signing?: true; signingSecret?: string };
const api = () => as(tale.us.apiToken);
const signed = async () => {
  const { data } = await api().post<Signed>('/webhook', webhookBody(tale.us, { signing: true }));
  return { ...data, signingSecret: data.signingSecret ?? '' };
};
const delivered = async (hook: { id: string }, prefix = 'e'): Promise<Got> => {
  const before = tale.heard.got.length;
  await tale.happen(1, prefix);
  await settled(hook.id, before + 1);
  return tale.heard.got.at(-1) as Got; // it has just been delivered
};
const isVerified = ({ body, headers }: Got, secret: string) => {
  try {
    return new Webhook(secret).verify(JSON.stringify(body), headers) !== undefined;
  } catch {
    return false;
  }
};

it('a signature is the one that Standard Webhooks publishes for its example', async () => {
  const key = await importKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  const call = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_000, body: '{"test": 2432232314}' };
  expect(await signatureHeaders([key], call)).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

describe('a webhook that is to be signed', () => {
  it('gets deliveries that the reference library verifies, and no other secret does', async () => {
    const hook = await signed();
    expect(hook).toMatchObject({ signing: true, signingSecret: expect.stringMatching(/^whsec_.{44}$/) });
    const got = await delivered(hook);
    expect(got.headers['webhook-id']).toBe(got.headers['delivery-id']);
    expect(isVerified(got, hook.signingSecret)).toBe(true);
    expect(isVerified(got, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBe(false);
  });

  it('shows its secret once, and keeps it encrypted', async () => {
    const { id, signingSecret } = await signed();
    const { data } = await api().get<Signed[]>('/webhooks');
    expect(data).toMatchObject([{ id, signing: true }]);
    expect(JSON.stringify(data)).not.toContain('whsec_');
    expect(JSON.stringify(await rows('select * from webhooks'))).not.toContain(signingSecret.slice(6));
  });

  it('stays so when it is replaced without a word of it, until that is switched off', async () => {
    const { id, signingSecret } = await signed();
    const body = webhookBody(tale.us);
    const kept = await api().put<Signed>(`/webhook/${id}`, body);
    expect(kept.data).toMatchObject({ signing: true });
    const again = await api().put<Signed>(`/webhook/${id}`, { ...body, signing: true });
    expect(again.data.signingSecret).toBeUndefined();
    expect(isVerified(await delivered({ id }), signingSecret)).toBe(true);
    const off = await api().put<Signed>(`/webhook/${id}`, { ...body, signing: false });
    expect(off.data).not.toHaveProperty('signing');
    expect((await delivered({ id }, 'f')).headers).not.toHaveProperty('webhook-signature');
  });

  it('is signed with both secrets for a day once one is rotated', async () => {
    const hook = await signed();
    const { data } = await api().post<{ signingSecret: string }>(`/webhook/${hook.id}/signing-secret`, {});
    const got = await delivered(hook);
    expect(isVerified(got, hook.signingSecret)).toBe(true);
    expect(isVerified(got, data.signingSecret)).toBe(true);
    const before = await sealSecret(env, 'w', hook.signingSecret);
    let sealed = await sealSecret(env, 'w', data.signingSecret, before);
    expect(await signingKeys(env, 'w', sealed)).toHaveLength(2);
    vi.useFakeTimers({ now: Date.now() + bothSignMs / 2, toFake: ['Date'] });
    sealed = await sealSecret(env, 'w', newSecret(), sealed);
    vi.setSystemTime(Date.now() + bothSignMs / 2); // the first one's day is over, and was not begun again
    expect(await signingKeys(env, 'w', sealed)).toHaveLength(2);
    for (let i = 0; i < maxSecrets; i++) sealed = await sealSecret(env, 'w', newSecret(), sealed);
    expect(await signingKeys(env, 'w', sealed)).toHaveLength(maxSecrets);
    vi.setSystemTime(Date.now() + bothSignMs);
    expect(await signingKeys(env, 'w', sealed)).toHaveLength(1);
    vi.useRealTimers();
  });

  it('is signed with each secret of rotations at the same time', async () => {
    const hook = await signed();
    const rotate = () => api().post<{ signingSecret: string }>(`/webhook/${hook.id}/signing-secret`, {});
    const rotated = await Promise.all([rotate(), rotate(), rotate()]);
    const got = await delivered(hook);
    for (const { data } of rotated) expect(isVerified(got, data.signingSecret)).toBe(true);
  });
});

it('a webhook without signatures is called and listed as ever', async () => {
  const hook = await tale.register();
  expect(hook).not.toHaveProperty('signing');
  expect(Object.keys((await delivered(hook)).headers).filter((name) => /^webhook-/.test(name))).toEqual([]);
  expect(await api().post(`/webhook/${hook.id}/signing-secret`, {})).toMatchObject({
    status: 400,
    message: 'Deliveries of this webhook are not signed',
  });
});

it('the portal switches signatures on, shows the secret once, rotates it and stops', async () => {
  const { cookie } = await signIn(tale.us);
  const hook = await tale.register();
  const path = `/portal/webhooks/${hook.id}/signing`;
  const press = async (what: string) => {
    const reply = await ask('POST', path, { cookie, fields: { do: what } });
    const page = await (await pageAfter(reply, cookie)).text();
    return { status: reply.status, secret: /whsec_[^<]+/.exec(page)?.[0] ?? '' };
  };
  expect((await press('')).status).toBe(400);
  expect(await (await ask('GET', path, { cookie })).text()).toContain('Deliveries are not signed');
  const { secret } = await press('on');
  expect(isVerified(await delivered(hook), secret)).toBe(true);
  expect(await (await ask('GET', path, { cookie })).text()).not.toContain('whsec_');
  expect((await tale.api().get<Signed[]>('/webhooks')).data).toMatchObject([{ signing: true }]);
  const rotated = await press('rotate');
  expect(isVerified(await delivered(hook, 'f'), rotated.secret)).toBe(true);
  expect((await press('off')).status).toBe(303);
  expect((await delivered(hook, 'g')).headers).not.toHaveProperty('webhook-signature');
});
