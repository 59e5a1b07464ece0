import { env } from 'cloudflare:workers';
import { Webhook } from 'standardwebhooks';
import {
  bothSignMs,
  importKey,
  maxSecrets,
  newSecret,
  sealSecret,
  signatureHeaders,
  signingKeys,
} from '#src/extras/signing/secrets.ts';
import { settled } from '#test/support/deliveries.ts';
import { signIn, textOf } from '#test/support/portal.ts';
import type { Got } from '#test/support/receiver.ts';
import { rows } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';
import { invalid, type WebhookOut, webhookBody } from '#test/support/world.ts';

const { us, heard, register, happen } = story();
const signed = async () => {
  const hook = await register({ signing: true });
  return { ...hook, signingSecret: hook.signingSecret ?? '' };
};
const delivered = async (hook: { id: string }, prefix = 'e'): Promise<Got> => {
  const before = heard.got.length;
  await happen(1, prefix);
  await settled(hook.id, before + 1);
  return heard.got.at(-1) as Got; // it has just been delivered
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
  const call = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: 1_614_265_330_000,
    body: '{"test": 2432232314}',
  };
  expect(await signatureHeaders([key], call)).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

describe('a webhook that is to be signed', () => {
  it('gets deliveries that its secret alone verifies, which is shown once and stored encrypted', async () => {
    const hook = await signed();
    expect(hook).toMatchObject({
      signing: true,
      signingSecret: expect.stringMatching(/^whsec_.{44}$/),
    });
    const got = await delivered(hook);
    expect(got.headers['webhook-id']).toBe(got.headers['delivery-id']);
    expect(isVerified(got, hook.signingSecret)).toBe(true);
    expect(isVerified(got, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBe(false);
    const { data } = await us.api.get<WebhookOut[]>('/webhooks');
    expect(data).toMatchObject([{ id: hook.id, signing: true }]);
    expect(JSON.stringify(data)).not.toContain('whsec_');
    const stored = JSON.stringify(await rows('select * from webhooks'));
    expect(stored).not.toContain(hook.signingSecret.slice(6));
  });

  it('stays so when it is replaced without a word of it, until that is switched off', async () => {
    const { id, signingSecret } = await signed();
    const body = webhookBody(us);
    const kept = await us.api.put<WebhookOut>(`/webhook/${id}`, body);
    expect(kept.data).toMatchObject({ signing: true });
    const again = await us.api.put<WebhookOut>(`/webhook/${id}`, { ...body, signing: true });
    expect(again.data.signingSecret).toBeUndefined();
    expect(isVerified(await delivered({ id }), signingSecret)).toBe(true);
    const off = await us.api.put<WebhookOut>(`/webhook/${id}`, { ...body, signing: false });
    expect(off.data).not.toHaveProperty('signing');
    expect((await delivered({ id }, 'f')).headers).not.toHaveProperty('webhook-signature');
  });

  it('is signed with both secrets for a day once one is rotated', async () => {
    const hook = await signed();
    const { data } = await us.api.post<{ signingSecret: string }>(
      `/webhook/${hook.id}/signing-secret`,
      {},
    );
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
    const rotate = () =>
      us.api.post<{ signingSecret: string }>(`/webhook/${hook.id}/signing-secret`, {});
    const rotated = await Promise.all([rotate(), rotate(), rotate()]);
    const got = await delivered(hook);
    for (const { data } of rotated) expect(isVerified(got, data.signingSecret)).toBe(true);
  });
});

it('a webhook without signatures is called and listed as ever', async () => {
  const hook = await register();
  expect(hook).not.toHaveProperty('signing');
  expect(
    Object.keys((await delivered(hook)).headers).filter((name) => /^webhook-/.test(name)),
  ).toEqual([]);
  expect(await us.api.post(`/webhook/${hook.id}/signing-secret`, {})).toMatchObject(
    invalid('Deliveries of this webhook are not signed'),
  );
});

it('the portal switches signatures on, shows the secret once, rotates it and stops', async () => {
  const { post, textAt } = await signIn(us);
  const hook = await register();
  const path = `/portal/webhooks/${hook.id}/signing`;
  const secretOf = async (does: string) =>
    /whsec_\S+/.exec(await textOf(await post(path, { do: does })))?.[0] ?? '';
  expect((await post(path, { do: '' })).status).toBe(400);
  expect(await textAt(path)).toContain('Deliveries are not signed');
  const secret = await secretOf('on');
  expect(isVerified(await delivered(hook), secret)).toBe(true);
  expect(await textAt(path)).not.toContain('whsec_');
  expect((await us.api.get<WebhookOut[]>('/webhooks')).data).toMatchObject([{ signing: true }]);
  const rotated = await secretOf('rotate');
  expect(isVerified(await delivered(hook, 'f'), rotated)).toBe(true);
  expect((await post(path, { do: 'off' })).status).toBe(303);
  expect((await delivered(hook, 'g')).headers).not.toHaveProperty('webhook-signature');
});
