import { config, type SealingKey } from './config.ts';
import { oncePer } from './remembered.ts';

export const base64url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true });

/** Decodes base64url. @throws SyntaxError for anything else */
export const fromBase64url = (text: string): Uint8Array =>
  Uint8Array.fromBase64(text, { alphabet: 'base64url' });

/** The purpose of a checksum. It is part of the text, so that none is accepted for another. */
export type Purpose =
  | 'credential'
  | 'session'
  | 'sign-in link'
  | 'connect link'
  | 'page version'
  | 'summary'
  | 'look'
  | 'move';

/** How many bytes of the HMAC it carries: 64 bits suffice to recognise junk. */
const lengthOf = (purpose: Purpose): number => (purpose === 'credential' ? 8 : 16);

/** The keyed checksum of `text` in base64url: it shows without I/O that we issued something. */
export async function checksum(
  keys: SealingKey[],
  purpose: Purpose,
  text: string,
): Promise<string> {
  return checksumBy(newestOf(keys), purpose, text);
}

function newestOf([newest]: SealingKey[]): SealingKey {
  if (!newest) throw new Error('ENCRYPTION_KEYS holds no key');
  return newest;
}

/** Whether `sum` is the checksum of `text` by any of the keys, in constant time. */
export async function hasChecksum(
  keys: SealingKey[],
  purpose: Purpose,
  text: string,
  sum: string,
): Promise<boolean> {
  const sumBytes = new TextEncoder().encode(sum);
  for (const key of keys) {
    const right = new TextEncoder().encode(await checksumBy(key, purpose, text));
    if (right.length === sumBytes.length && crypto.subtle.timingSafeEqual(right, sumBytes))
      return true;
  }
  return false;
}

async function checksumBy(key: SealingKey, purpose: Purpose, text: string): Promise<string> {
  const mac = await crypto.subtle.sign(
    'HMAC',
    await checksumKey(key),
    new TextEncoder().encode(`${purpose}:${text}`),
  );
  return base64url(new Uint8Array(mac, 0, lengthOf(purpose)));
}

/** Derived by HKDF, because the key itself encrypts. */
const checksumKey = oncePer(async ({ bytes }: SealingKey) => {
  const base = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey']);
  return crypto.subtle.deriveKey(
    {
      name: 'HKDF',
      hash: 'SHA-256',
      salt: new Uint8Array(),
      info: new TextEncoder().encode('checksum'),
    },
    base,
    { name: 'HMAC', hash: 'SHA-256', length: 256 },
    false,
    ['sign'],
  );
});

/** Encrypted text: the id of its key, and base64url of the nonce and of AES-256-GCM's output. */
export type Sealed = { key: string; iv: string; data: string };

/** Encrypts texts with the newest key by AES-256-GCM, bound to the row's id. */
export async function seal(env: Env, id: string, texts: Record<string, string>): Promise<Sealed> {
  const newest = newestOf(config(env).encryptionKeys);
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const text = new TextEncoder().encode(JSON.stringify(texts));
  const data = await crypto.subtle.encrypt(cipher(iv, id), await cryptoKey(newest), text);
  return { key: newest.id, iv: base64url(iv), data: base64url(new Uint8Array(data)) };
}

/** Decrypts what `seal` encrypted, also as JSON. @throws Error, if its key is gone, or the row was tampered with */
export async function unseal(
  env: Env,
  id: string,
  sealed: Sealed | string,
): Promise<Record<string, string>> {
  const { key, iv, data }: Sealed = typeof sealed === 'string' ? JSON.parse(sealed) : sealed;
  const named = config(env).encryptionKeys.find((one) => one.id === key);
  if (!named)
    throw new Error(
      `ENCRYPTION_KEYS holds no key ${key}, which this is encrypted with: put it back`,
    );
  const text = await crypto.subtle.decrypt(
    cipher(fromBase64url(iv), id),
    await cryptoKey(named),
    fromBase64url(data),
  );
  return JSON.parse(new TextDecoder().decode(text));
}

const cipher = (iv: Uint8Array, id: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(id),
});

const cryptoKey = oncePer(({ bytes }: SealingKey) =>
  crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']),
);
