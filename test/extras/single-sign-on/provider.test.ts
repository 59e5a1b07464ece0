import { env } from 'cloudflare:workers';
import * as oauth from 'oauth4webapi';
import { hashToken } from '#src/core/accounts/tokens/format.ts';
import { base64url } from '#src/core/platform/crypto.ts';
import { refusalIn } from '#src/core/platform/errors.ts';
import {
  claimsAt,
  problemOf,
  stateOf,
  verifiedEmail,
} from '#src/extras/single-sign-on/provider.ts';
import { receiver } from '#test/support.ts';

const issuer = 'https://login.example.net';
const verified = { email: 'Ann@Example.com', email_verified: true };
const google = 'https://accounts.google.com';
it.each([
  [verified, undefined, 'ann@example.com'],
  [{ ...verified, email_verified: 'true' }, undefined, 'ann@example.com'],
  [{ email: verified.email, xms_edov: 1 }, undefined, 'ann@example.com'],
  [{ ...verified, email_verified: 'not true' }, undefined, 'has not verified'],
  [{ ...verified, email_verified: false, xms_edov: true }, undefined, 'has not verified'],
  [{ ...verified, email: 'ann@ＥＸＡＭＰＬＥ.com' }, undefined, 'in a different spelling'],
  [{ ...verified, hd: 'example.com' }, google, 'ann@example.com'],
  [verified, google, 'private Google account'],
  [{ ...verified, email_verified: false }, undefined, 'has not verified ann@example.com'],
  [{ email: verified.email }, undefined, 'has not verified'],
  [{ ...verified, email: 'ann' }, undefined, 'other than an email address'],
  [{ email_verified: true }, undefined, 'did not return an email address'],
])('claims %j of %s: %s', (claims, of = issuer, result) => {
  const said = () => {
    try {
      return verifiedEmail({ issuer: of }, claims);
    } catch (error) {
      return JSON.stringify(refusalIn(error)?.failure);
    }
  };
  expect(said()).toContain(result);
});

it.each([
  [{ code: oauth.JWT_CLAIM_COMPARISON, cause: { claim: 'aud' } }, 'is for another client ID'],
  [{ code: oauth.JWT_TIMESTAMP_CHECK, cause: { claim: 'exp' } }, 'clock is off'],
  [{ code: oauth.INVALID_RESPONSE }, 'Unexpected response from the provider: x'],
])('%j is in words: %s', (options, words) => {
  const refused = refusalIn(problemOf(new oauth.OperationProcessingError('x', options)));
  expect(JSON.stringify(refused?.failure)).toContain(words);
  expect(JSON.stringify(refused)).not.toContain('It says');
  const fault = new Error('a fault of ours');
  expect(problemOf(fault)).toBe(fault);
});

/** A key of RFC 8037. */
const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
const right = { kty: 'OKP', crv: 'Ed25519', x };
const zeros = base64url(new Uint8Array(64));
it.each([
  ['another key', { ...right, x: base64url(new Uint8Array(32).fill(7)) }, zeros],
  ['no key that there is', { ...right, x: 'AA' }, zeros],
  ['what is no signature', right, '~'],
])(
  'a response signed by %s is refused in words, and is no fault of ours',
  async (_, key, signature) => {
    const redirectUri = 'https://us.example.com';
    const attempt = {
      provider: { accountId: 'us', account: 'Us', issuer, clientId: 'us', secret: 'word' },
      redirectUri,
      secret: 'attempt',
      isTest: false,
    };
    const nonce = await hashToken('nonce attempt');
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: 'us', sub: '7', nonce, iat: now, exp: now + 60 };
    const parts = [{ alg: 'Ed25519' }, claims].map((part) =>
      base64url(new TextEncoder().encode(JSON.stringify(part))),
    );
    const at = (path: string) => `${issuer}/${path}`;
    const replies: Record<string, object> = {
      [at('.well-known/openid-configuration')]: {
        issuer,
        token_endpoint: at('token'),
        jwks_uri: at('keys'),
        id_token_signing_alg_values_supported: ['Ed25519'],
      },
      [at('token')]: {
        access_token: 'a',
        token_type: 'bearer',
        id_token: [...parts, signature].join('.'),
      },
      [at('keys')]: { keys: [key] },
    };
    receiver().serves(issuer, ({ url }) => Response.json(replies[url]));
    const url = `${redirectUri}?code=c&state=${await stateOf('attempt')}`;
    const refused = { failure: { kind: 'invalid' } };
    await expect(claimsAt(env, url, attempt)).rejects.toMatchObject(refused);
  },
);
