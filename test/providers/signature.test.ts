import { describe, expect, it } from 'vitest';
import { motive } from '../../src/providers/motive/connector.ts';
import { samsara } from '../../src/providers/samsara/connector.ts';
import { terminal } from '../../src/providers/terminal/connector.ts';

const body = '{"eventType": "AlertIncident"}';
const now = () => Math.floor(Date.now() / 1000);
const bytesOf = (text: string) => new Uint8Array(new TextEncoder().encode(text));

async function hmac(hash: string, key: Uint8Array<ArrayBuffer>, text: string) {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, bytesOf(text)));
}

/** What is signed, and what is sent with it. */
type Signing = { key?: string; at?: number; text?: string; id?: string; name?: string };

const keyed = { own: 'k'.repeat(24), other: 'o'.repeat(24) };
const base64 = bytesOf(keyed.own).toBase64();
const schemes = {
  samsara: {
    connector: samsara,
    secret: base64,
    async headers({ key = keyed.own, at = now(), text = body }: Signing) {
      const signature = await hmac('SHA-256', bytesOf(key), `v1:${at}:${text}`);
      return { 'x-samsara-timestamp': `${at}`, 'x-samsara-signature': `v1=${signature.toHex()}` };
    },
  },
  motive: {
    connector: motive,
    secret: keyed.own,
    headers: async ({ key = keyed.own, text = body }: Signing) => ({
      'x-kt-webhook-signature': (await hmac('SHA-1', bytesOf(key), text)).toHex(),
    }),
  },
  terminal: {
    connector: terminal,
    secret: `whsec_${base64}`,
    async headers({ key = keyed.own, at = now(), text = body, id = 'msg_1', name = 'svix' }: Signing) {
      const signature = (await hmac('SHA-256', bytesOf(key), `msg_1.${at}.${text}`)).toBase64();
      return {
        [`${name}-id`]: id,
        [`${name}-timestamp`]: `${at}`,
        [`${name}-signature`]: `v1,bm90IHRoaXMgb25l v2,abc v1,${signature}`,
      };
    },
  },
};

const tooOld: [string, () => Signing][] = [
  ['six minutes ago', () => ({ at: now() - 360 })],
  ['in six minutes', () => ({ at: now() + 360 })],
];
const always: [string, () => Signing][] = [
  ['with another key', () => ({ key: keyed.other })],
  ['of another body', () => ({ text: '{}' })],
];

describe.each([
  ['samsara', [...always, ...tooOld]],
  ['motive', always],
  ['terminal', [...always, ...tooOld, ['with another id', () => ({ id: 'msg_2' })]]],
] satisfies [keyof typeof schemes, [string, () => Signing][]][])('a call of %s', (provider, wrong) => {
  const { connector, secret, headers } = schemes[provider];
  const isSigned = async (sent: Record<string, string>) =>
    connector.webhook?.isSigned(new Headers(sent), bytesOf(body), secret);

  it('is known by its signature', async () => {
    expect(await isSigned(await headers({}))).toBe(true);
    expect(await isSigned(await headers({ name: 'webhook' }))).toBe(true); // Terminal has two names for its headers
  });

  it.each(wrong)('is none that is signed %s', async (_, signing) => {
    expect(await isSigned(await headers(signing()))).toBe(false);
  });

  it('is none without a signature, or with what cannot be one', async () => {
    expect(await isSigned({})).toBe(false);
    const names = Object.keys(await headers({}));
    expect(await isSigned(Object.fromEntries(names.map((name) => [name, 'no hex'])))).toBe(false);
  });
});
