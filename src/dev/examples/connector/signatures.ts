/** Samsara's clock and ours may differ by so much; what is older is sent by somebody else. */
const toleranceMs = 5 * 60_000;

/**
 * Whether Samsara sent this: `X-Samsara-Signature` is `v1=` and the hex HMAC-SHA256 of `v1:timestamp:body`
 * under the webhook's secret, which is base64. `now` is in milliseconds.
 */
export async function samsaraSigned(
  headers: Headers,
  body: ArrayBuffer,
  secret: string,
  now: number,
): Promise<boolean> {
  const timestamp = headers.get('x-samsara-timestamp') ?? '';
  const signature = /^v1=([0-9a-f]{64})$/i.exec(headers.get('x-samsara-signature') ?? '')?.[1];
  if (!signature || !(Math.abs(now - Number(timestamp) * 1000) <= toleranceMs)) return false;
  const prefix = new TextEncoder().encode(`v1:${timestamp}:`);
  const message = new Uint8Array([...prefix, ...new Uint8Array(body)]);
  return isHmac('SHA-256', Uint8Array.fromBase64(secret), message, signature);
}

/** Whether Motive sent this: `X-KT-Webhook-Signature` is the hex HMAC-SHA1 of the body under the secret. */
export async function motiveSigned(headers: Headers, body: ArrayBuffer, secret: string): Promise<boolean> {
  const signature = /^[0-9a-f]{40}$/i.exec(headers.get('x-kt-webhook-signature') ?? '')?.[0];
  return !!signature && isHmac('SHA-1', new TextEncoder().encode(secret), body, signature);
}

/** WebCrypto compares in constant time. */
async function isHmac(
  hash: 'SHA-1' | 'SHA-256',
  secret: Uint8Array,
  message: ArrayBuffer | Uint8Array,
  signature: string,
): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash }, false, ['verify']);
  return crypto.subtle.verify('HMAC', key, Uint8Array.fromHex(signature), message);
}
