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
import {
  type Got,
  replaceWebhook,
  rows,
  settled,
  signIn,
  story,
  textOf,
  webhooksOf,
} from '#test/support.ts';

const { us, heard, register, happen } = story();
const signed = async () => {
  const hook = await register({ signing: true });
  return { ...hook, signingSecret: hook.signingSecret ?? '' };
};
const delivered = async (hook: { id: string }, prefix = 'e') => {
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
    const data = await webhooksOf(us);
    expect(data).toMatchObject([{ id: hook.id, signing: true }]);
    expect(JSON.stringify(data)).not.toContain('whsec_');
    const stored = JSON.stringify(await rows('select * from webhooks'));
    expect(stored).not.toContain(hook.signingSecret.slice(6));
  });

  it('has no new secret when it is replaced, and stays so until that is switched off', async () => {
    const { id, signingSecret } = await signed();
    const put = async (signing: boolean) => (await replaceWebhook(us, id, { signing })).data;
    expect((await put(true)).signingSecret).toBeUndefined();
    expect(isVerified(await delivered({ id }), signingSecret)).toBe(true);
    expect(await put(false)).not.toHaveProperty('signing');
    expect(Object.keys((await delivered({ id }, 'f')).headers).join()).not.toContain('webhook-');
  });
  it('is signed with each secret of the last day, however many there were', async () => {
    let sealed: Awaited<ReturnType<typeof sealSecret>> | undefined;
    const add = async () => {
      sealed = await sealSecret(env, 'w', newSecret(), sealed);
    };
    const count = async () => sealed && (await signingKeys(env, 'w', sealed)).length;
    await add();
    await add();
    vi.useFakeTimers({ now: Date.now() + bothSignMs / 2, toFake: ['Date'] });
    await add();
    vi.setSystemTime(Date.now() + bothSignMs / 2); // the first one's day is over, and was not begun again
    expect(await count()).toBe(2);
    for (let i = 0; i < maxSecrets; i++) await add();
    expect(await count()).toBe(maxSecrets);
    vi.setSystemTime(Date.now() + bothSignMs);
    expect(await count()).toBe(1);
    vi.useRealTimers();
  });
  it('is signed with the secret of before and each of rotations at the same time', async () => {
    const hook = await signed();
    const path = `/webhook/${hook.id}/signing-secret`;
    const rotate = async () => (await us.api.post<{ signingSecret: string }>(path, {})).data;
    const rotated = await Promise.all([rotate(), rotate(), rotate()]);
    const got = await delivered(hook);
    for (const { signingSecret } of [hook, ...rotated])
      expect(isVerified(got, signingSecret)).toBe(true);
  });
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
  const rotated = await secretOf('rotate');
  expect(isVerified(await delivered(hook, 'f'), rotated)).toBe(true);
  expect((await post(path, { do: 'off' })).status).toBe(303);
  expect((await delivered(hook, 'g')).headers).not.toHaveProperty('webhook-signature');
});

/** Adds a webhook by the form, as somebody who is signed in. */
async function add(typed: object) {
  const { page, textAt } = await signIn(us);
  const URL = 'https://receiver.example.com/new';
  const form = await page('/portal/webhooks/new');
  return { page, textAt, added: await form.press('Add webhook', { URL, ...typed }) };
}

it('a new webhook is signed, with a secret that is shown once', async () => {
  const { added, textAt } = await add({});
  expect(added.text).toMatch(
    /Webhook "receiver.example.com" was added.*Copy the signing secret now .* whsec_/,
  );
  expect(await webhooksOf(us)).toMatchObject([{ signing: true }]);
  const [next = ''] = added.links('Continue');
  const after = await textAt(next);
  expect(after).toContain('Signature Signed');
  expect(after).not.toContain('whsec_');
});

it('a new webhook is not signed if that is unchecked, and its form leaves it so', async () => {
  const { added, page } = await add({ 'Sign deliveries': false });
  expect(added.text).toContain('Signature None');
  const form = await page(`${added.path}/edit`);
  expect(form.text).not.toContain('Sign deliveries');
  await form.press('Save changes');
  expect((await webhooksOf(us))[0]).not.toHaveProperty('signing');
});
