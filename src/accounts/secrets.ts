import { config } from '../platform/config.ts';
import { base64url, checksum, hasChecksum, type Purpose } from '../platform/crypto.ts';
import { mainHome } from '../platform/homes/homes.ts';

/** What a person's secret is for: a browser session, or a link that starts one. */
export type SecretKind = Exclude<Purpose, 'credential' | 'tick'>;

const randomLength = 43;

/** A new secret: 32 bytes and their keyed checksum, 65 characters of base64url. The bytes are random unless given. */
export async function newSecret(
  env: Env,
  kind: SecretKind,
  bytes: Uint8Array = crypto.getRandomValues(new Uint8Array(32)),
): Promise<string> {
  const random = base64url(bytes);
  return random + (await checksum(config(env).headerKeys, kind, random));
}

/** A secret prefixed with the name of its home and a dot, unless that is main. */
export const withHome = (home: string, secret: string): string =>
  home === mainHome ? secret : `${home}.${secret}`;

/** Splits what `withHome` made. */
export function splitSecret(value: string): { home: string; secret: string } {
  const [secret = '', home = mainHome] = value.split('.', 2).reverse();
  return { home, secret };
}

/** Whether `newSecret` made this secret. Needs no I/O, and does not say whether it is still valid. */
export const isSecret = (env: Env, kind: SecretKind, secret: string): Promise<boolean> =>
  hasChecksum(config(env).headerKeys, kind, secret.slice(0, randomLength), secret.slice(randomLength));
