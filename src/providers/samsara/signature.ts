import { fromBase64, fromHex, isHmac, isRecent } from '../signature.ts';

/** Whether Samsara signed a call: `v1:<seconds>:<body>`, with the secret's bytes, which it shows as base64. */
export async function isSigned(
  headers: Headers,
  body: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> {
  const timestamp = headers.get('x-samsara-timestamp') ?? '';
  const [version, hex = ''] = (headers.get('x-samsara-signature') ?? '').split('=');
  if (version !== 'v1' || !isRecent(Number(timestamp) * 1000)) return false;
  return isHmac('SHA-256', fromBase64(secret), [`v1:${timestamp}:`, body], fromHex(hex));
}
