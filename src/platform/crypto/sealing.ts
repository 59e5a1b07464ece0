import type { SealingKey } from '../config.ts';
import { base64url, fromBase64url } from './encoding.ts';

/** Text that only the named key can read: base64url of its nonce and of AES-256-GCM's output. */
export type Sealed = { key: string; iv: string; data: string };

const imported = new WeakMap<SealingKey, Promise<CryptoKey>>();

/**
 * Encrypts a webhook's custom headers for the database with the newest key: AES-256-GCM, bound to the webhook, so
 * that the headers of one row cannot be used in another.
 */
export async function seal(
  keys: SealingKey[],
  webhookId: string,
  headers: Record<string, string>,
): Promise<Sealed> {
  const [newest] = keys;
  if (!newest) throw new Error('HEADER_KEYS holds no key');
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const text = new TextEncoder().encode(JSON.stringify(headers));
  const data = await crypto.subtle.encrypt(cipher(iv, webhookId), await cryptoKey(newest), text);
  return { key: newest.id, iv: base64url(iv), data: base64url(new Uint8Array(data)) };
}

/**
 * Decrypts what `seal` has encrypted, with the key that it names.
 *
 * @throws Error if that key is no longer in HEADER_KEYS, or the row has been tampered with
 */
export async function unseal(
  keys: SealingKey[],
  webhookId: string,
  { key, iv, data }: Sealed,
): Promise<Record<string, string>> {
  const named = keys.find(({ id }) => id === key);
  if (!named) throw new Error(`HEADER_KEYS holds no key ${key}`);
  const text = await crypto.subtle.decrypt(
    cipher(fromBase64url(iv), webhookId),
    await cryptoKey(named),
    fromBase64url(data),
  );
  return JSON.parse(new TextDecoder().decode(text));
}

const cipher = (iv: Uint8Array, webhookId: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(webhookId),
});

function cryptoKey(key: SealingKey): Promise<CryptoKey> {
  const known = imported.get(key);
  if (known) return known;
  const fresh = crypto.subtle.importKey('raw', key.bytes, 'AES-GCM', false, ['encrypt', 'decrypt']);
  imported.set(key, fresh);
  return fresh;
}
