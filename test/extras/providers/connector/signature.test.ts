import { connectorOf } from '#src/extras/providers/registry.ts';

const body = '{"eventType": "AlertIncident"}';
const bytesOf = (text: string) => new Uint8Array(new TextEncoder().encode(text));
const secret = bytesOf('k'.repeat(24));
const now = () => Math.floor(Date.now() / 1000);

async function hmac(hash: string, key: Uint8Array<ArrayBuffer>, text: string) {
  const name = 'HMAC';
  const imported = await crypto.subtle.importKey('raw', key, { name, hash }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign(name, imported, bytesOf(text)));
}

/** What is signed: with which key, when, and what; `id` and `name` are of Terminal's headers. */
type Signing = {
  key?: Uint8Array<ArrayBuffer>;
  at?: number;
  text?: string;
  id?: string;
  name?: string;
};

/** The secret as people enter it, and the headers of a call. */
const schemes = {
  samsara: {
    entered: secret.toBase64(),
    async headers({ key = secret, at = now(), text = body }: Signing) {
      const signature = await hmac('SHA-256', key, `v1:${at}:${text}`);
      return { 'x-samsara-timestamp': `${at}`, 'x-samsara-signature': `v1=${signature.toHex()}` };
    },
  },
  motive: {
    entered: 'k'.repeat(24),
    headers: async ({ key = secret, text = body }: Signing) => ({
      'x-kt-webhook-signature': (await hmac('SHA-1', key, text)).toHex(),
    }),
  },
  terminal: {
    entered: `whsec_${secret.toBase64()}`,
    async headers({ key = secret, at = now(), text = body, id = 'msg_1', name = 'svix' }: Signing) {
      const signature = (await hmac('SHA-256', key, `msg_1.${at}.${text}`)).toBase64();
      return {
        [`${name}-id`]: id,
        [`${name}-timestamp`]: `${at}`,
        [`${name}-signature`]: `v1,bm90IHRoaXMgb25l v2,abc v1,${signature}`,
      };
    },
  },
};

const wrong: Signing[] = [{ key: bytesOf('o'.repeat(24)) }, { text: '{}' }];
const timed: Signing[] = [...wrong, { at: now() - 360 }, { at: now() + 360 }];

describe.each([
  ['samsara', timed],
  ['motive', wrong],
  ['terminal', [...timed, { id: 'msg_2' }]],
] satisfies [keyof typeof schemes, Signing[]][])('a call of %s', (provider, forged) => {
  const { entered, headers } = schemes[provider];
  const isSigned = async (sent: Record<string, string>) =>
    connectorOf(provider)?.webhook?.isSigned(new Headers(sent), bytesOf(body), entered);

  it('is known by its signature', async () => {
    expect(await isSigned(await headers({}))).toBe(true);
    expect(await isSigned(await headers({ name: 'webhook' }))).toBe(true); // Terminal has two names for its headers
  });

  it('is none with another key, body, time or id, or without a signature', async () => {
    for (const signing of forged) expect(await isSigned(await headers(signing))).toBe(false);
    const names = Object.keys(await headers({}));
    for (const sent of [[], names.map((name) => [name, 'no hex'])])
      expect(await isSigned(Object.fromEntries(sent))).toBe(false);
  });
});
