import fc from 'fast-check';
import { expect, it } from 'vitest';
import { generateToken, isRecognised, isWellFormed } from '../../../src/accounts/tokens/format.ts';

const keyOf = (id: string, byte: number) => ({ id, bytes: new Uint8Array(32).fill(byte) });
const [older, newer, foreign] = [keyOf('k1', 1), keyOf('k2', 2), keyOf('k1', 3)];

it('a generated credential has its prefix, 43 characters and a checksum', async () => {
  expect(await generateToken('api', [newer])).toMatch(/^fds_[\w-]{49}$/);
  expect(await generateToken('ingest', [newer])).toMatch(/^fdi_[\w-]{49}$/);
  expect(isWellFormed(await generateToken('api', [newer]))).toBe(true);
});

it('a credential is recognised by any of the current keys, and by no others', async () => {
  const token = await generateToken('api', [older]);
  expect(await isRecognised(token, [newer, older])).toBe(true);
  expect(await isRecognised(token, [newer])).toBe(false);
  expect(await isRecognised(token, [foreign])).toBe(false);
  expect(await isRecognised(token.replace('fds_', 'fdi_'), [older])).toBe(false);
  expect(await isRecognised('', [older])).toBe(false);
});

it('a credential with any one character changed is malformed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(52), fc.constantFrom(...'abcXYZ019-_'), async (at, character) => {
      const token = await generateToken('api', [newer]);
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      expect(isWellFormed(changed)).toBe(changed === token);
    }),
  );
});
