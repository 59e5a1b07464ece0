/** How old a signed call may be, and how far ahead the provider's clock. */
export const windowMs = 5 * 60_000;

export const isRecent = (ms: number): boolean => Math.abs(Date.now() - ms) <= windowMs;

/** Whether `signature` is the HMAC of the concatenated parts with `key`. Compares in constant time. */
export async function isHmac(
  hash: 'SHA-1' | 'SHA-256',
  key: Uint8Array<ArrayBuffer> | undefined,
  parts: (string | Uint8Array<ArrayBuffer>)[],
  signature: Uint8Array<ArrayBuffer> | undefined,
): Promise<boolean> {
  if (!key || key.length === 0 || !signature) return false;
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['verify']);
  return crypto.subtle.verify('HMAC', imported, signature, await new Blob(parts).arrayBuffer());
}

/** Bytes of hexadecimal text; undefined if it is invalid. */
export const fromHex = (text: string): Uint8Array<ArrayBuffer> | undefined =>
  decoded(() => Uint8Array.fromHex(text));

/** Bytes of base64 text; undefined if it is invalid. */
export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined =>
  decoded(() => Uint8Array.fromBase64(text));

function decoded(decode: () => Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
