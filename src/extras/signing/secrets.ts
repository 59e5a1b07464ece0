import { type Sealed, seal, unseal } from '../../core/platform/crypto.ts';
import { dayMs } from '../../core/platform/durations.ts';
import type { SignedCall } from '../../core/webhooks/options.ts';

/** How long a rotated secret still signs, in milliseconds. */
export const bothSignMs = dayMs;

const prefix = 'whsec_';
const secretBytes = 32;

/** A new secret in the form of Standard Webhooks. */
export const newSecret = (): string =>
  prefix + crypto.getRandomValues(new Uint8Array(secretBytes)).toBase64();

/** How many secrets sign at most: after more rotations within a day, the oldest are dropped. */
export const maxSecrets = 5;

/** Each secret with its end, in milliseconds since 1970, newest first; the newest has none. */
type Secrets = [secret: string, until: string][];

const endless = '';

async function stillSigning(env: Env, webhookId: string, sealed: Sealed): Promise<Secrets> {
  const secrets = await unseal(env, webhookId, sealed);
  return Object.entries(secrets).filter(
    ([, until]) => until === endless || Number(until) > Date.now(),
  );
}

/** Encrypts a webhook's new secret; those of `before` still sign for a day. @throws Error, as `unseal` does */
export async function sealSecret(
  env: Env,
  webhookId: string,
  secret: string,
  before?: Sealed,
): Promise<Sealed> {
  const earlier = before ? await stillSigning(env, webhookId, before) : [];
  const until = String(Date.now() + bothSignMs);
  const secrets: Secrets = [
    [secret, endless],
    ...earlier.map(([one, end]): Secrets[number] => [one, end === endless ? until : end]),
  ];
  return seal(env, webhookId, Object.fromEntries(secrets.slice(0, maxSecrets)));
}

/** The keys that sign a webhook's calls now, newest first. @throws Error, as `unseal` does */
export async function signingKeys(
  env: Env,
  webhookId: string,
  sealed: Sealed,
): Promise<CryptoKey[]> {
  const secrets = await stillSigning(env, webhookId, sealed);
  return Promise.all(secrets.map(([secret]) => importKey(secret)));
}

/** The key of a secret. @throws SyntaxError, if it is invalid */
export const importKey = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey(
    'raw',
    Uint8Array.fromBase64(secret.slice(prefix.length)),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );

/** The headers of Standard Webhooks for a call. */
export async function signatureHeaders(
  keys: CryptoKey[],
  { id, at, body }: SignedCall,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signatures = keys.map(async (key) => {
    const mac = await crypto.subtle.sign('HMAC', key, signed);
    return `v1,${new Uint8Array(mac).toBase64()}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  };
}
