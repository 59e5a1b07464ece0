import { mainCell } from '../core/platform/cells.ts';
import { config } from '../core/platform/config.ts';
import { base64url, checksum, hasChecksum, type Purpose } from '../core/platform/crypto.ts';

/** What a person's secret is for: a browser session, or a link that starts one. */
type SecretKind = Exclude<Purpose, 'credential' | 'page version' | 'look'>;

const randomLength = 43;

/** A new secret: 32 bytes, random unless given, and their keyed checksum, in base64url. */
export async function newSecret(
  env: Env,
  kind: SecretKind,
  bytes: Uint8Array = crypto.getRandomValues(new Uint8Array(32)),
): Promise<string> {
  const random = base64url(bytes);
  return random + (await checksum(config(env).encryptionKeys, kind, random));
}

/** A secret, or an id, prefixed with the name of this cell and a dot, unless that is main. */
export function withCell(env: Env, secret: string): string {
  const { cell } = config(env);
  return cell === mainCell ? secret : `${cell}.${secret}`;
}

/** The secret in what `withCell` made, whichever cell that was. */
export const secretIn = (value: string): string => value.slice(value.indexOf('.') + 1);

/** Whether `newSecret` made this secret. Needs no I/O, and does not say whether it is valid. */
export const isSecret = (env: Env, kind: SecretKind, secret: string): Promise<boolean> =>
  hasChecksum(
    config(env).encryptionKeys,
    kind,
    secret.slice(0, randomLength),
    secret.slice(randomLength),
  );
