import fc from 'fast-check';
import { expect, it } from 'vitest';
import { generateToken, hashToken, isWellFormed } from '../../src/tokens/format.ts';

it('a generated credential has its prefix, 43 characters and a checksum', () => {
  expect(generateToken('api')).toMatch(/^fds_[\w-]{49}$/);
  expect(generateToken('ingest')).toMatch(/^fdi_[\w-]{49}$/);
  expect(isWellFormed(generateToken('api'))).toBe(true);
});

it('a credential with any one character changed is malformed', () => {
  fc.assert(
    fc.property(fc.nat(52), fc.constantFrom(...'abcXYZ019-_'), (at, character) => {
      const token = generateToken('api');
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      expect(isWellFormed(changed)).toBe(changed === token);
    }),
  );
});

it('a hash is SHA-256 in hex', async () => {
  expect(await hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
