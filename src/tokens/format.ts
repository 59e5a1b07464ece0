import crc32 from 'crc-32';
import { base64url } from '../encoding.ts';

/** `api` tokens read and manage an account; `ingest` keys send in one connection's records. */
export type Scope = 'api' | 'ingest';

const prefixes = { api: 'fds_', ingest: 'fdi_' } satisfies Record<Scope, string>;
const wellFormed = /^(?:fds_|fdi_)[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}$/;

/** A new credential: prefix, 32 random bytes and a checksum over both, in base64url (design 4). */
export function generateToken(scope: Scope): string {
  const secret = prefixes[scope] + base64url(crypto.getRandomValues(new Uint8Array(32)));
  return secret + checksum(secret);
}

/** True when `value` has the form and the checksum of a credential: tells typing errors without any I/O. */
export const isWellFormed = (value: string): boolean =>
  wellFormed.test(value) && checksum(value.slice(0, -6)) === value.slice(-6);

/** The SHA-256 of a credential in hex: all that is ever stored of it. */
export async function hashToken(value: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value))).toHex();
}

function checksum(text: string): string {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setInt32(0, crc32.buf(new TextEncoder().encode(text)));
  return base64url(bytes);
}
