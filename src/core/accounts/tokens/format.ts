import crc32 from 'crc-32';
import { mainCell } from '../../platform/cells.ts';
import type { SealingKey } from '../../platform/config.ts';
import { base64url, checksum, hasChecksum } from '../../platform/crypto.ts';

/** `api` tokens read and manage an account; `ingest` keys send one connection's records. */
export type Scope = 'api' | 'ingest';

const prefixes = { api: 'fds_', ingest: 'fdi_' } satisfies Record<Scope, string>;
const wellFormed = /^(?:fds_|fdi_)(?:([a-z][a-z0-9]{0,15})_)?[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}$/;

const keyedLength = 11;
const crcLength = 6;

/** A new credential: prefix, its cell unless main, random bytes, a keyed checksum, a CRC-32. */
export async function generateToken(
  scope: Scope,
  keys: SealingKey[],
  cell = mainCell,
): Promise<string> {
  const prefix = prefixes[scope] + (cell === mainCell ? '' : `${cell}_`);
  const random = prefix + base64url(crypto.getRandomValues(new Uint8Array(24)));
  const secret = random + (await checksum(keys, 'credential', random));
  return secret + crc(secret);
}

/** Whether `value` has the form and CRC-32 of a credential: detects typing errors without I/O. */
export const isWellFormed = (value: string): boolean =>
  wellFormed.test(value) && crc(value.slice(0, -crcLength)) === value.slice(-crcLength);

export const cellInToken = (value: string): string => wellFormed.exec(value)?.[1] ?? mainCell;

/** Whether `value` has our keyed checksum. False for junk, and when its key is gone. */
export const isRecognised = (value: string, keys: SealingKey[]): Promise<boolean> =>
  hasChecksum(
    keys,
    'credential',
    value.slice(0, -keyedLength - crcLength),
    value.slice(-keyedLength - crcLength, -crcLength),
  );

/** The SHA-256 of a credential in hex: the only form that is stored. */
export async function hashToken(value: string): Promise<string> {
  return new Uint8Array(
    await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value)),
  ).toHex();
}

function crc(text: string): string {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setInt32(0, crc32.str(text));
  return base64url(bytes);
}
