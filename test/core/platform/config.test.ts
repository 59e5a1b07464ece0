import { env } from 'cloudflare:workers';
import { config } from '#src/core/platform/config.ts';

const keysOf = (text: string) => config({ ...env, ENCRYPTION_KEYS: text }).encryptionKeys;
const key = new Uint8Array(32).fill(250).toBase64();

it.each(['', 'k1', 'k1:', key, `:${key}`, `k1:${key.slice(0, 41)}`, 'k1:AAAA', `k1:${key},`])(
  'encryption keys that are “%s” are refused, in words that help',
  (text) => {
    expect(() => keysOf(text)).toThrow('must be id:base64 of 32 bytes');
  },
);

it('encryption keys are read as people paste them', () => {
  const keys = keysOf(` k2: ${key.replace('=', '')} ,\n k1:${key}\n`);
  expect(keys.map(({ id, bytes }) => [id, bytes.length, bytes[0]])).toEqual([
    ['k2', 32, 250],
    ['k1', 32, 250],
  ]);
});

it('two encryption keys of one id are refused, since the second would never be used', () => {
  expect(() => keysOf(`k1:${key},k1:${key}`)).toThrow('must have a different id for each key');
});
