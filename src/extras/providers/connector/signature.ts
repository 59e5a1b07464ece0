/** How old a signed call may be, and how far ahead the provider's clock. */
const windowMs = 5 * 60_000;

export const isRecent = (ms: number): boolean => Math.abs(Date.now() - ms) <= windowMs;

/** Whether the signature is the HMAC of these parts, in constant time. `signing` may throw for bad text. */
export async function isHmac(
  hash: 'SHA-1' | 'SHA-256',
  parts: (string | Uint8Array<ArrayBuffer>)[],
  signing: () => { key: Uint8Array<ArrayBuffer>; signature: Uint8Array<ArrayBuffer> },
): Promise<boolean> {
  try {
    const { key, signature } = signing();
    const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, [
      'verify',
    ]);
    return await crypto.subtle.verify(
      'HMAC',
      imported,
      signature,
      await new Blob(parts).arrayBuffer(),
    );
  } catch {
    return false; // neither base64 nor hexadecimal, or an empty key
  }
}
