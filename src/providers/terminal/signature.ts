import { fromBase64, isHmac, isRecent } from '../signature.ts';

/**
 * Whether Terminal signed a call, as Svix does: `<id>.<seconds>.<body>`, with the bytes of the secret, which is base64
 * after `whsec_`. The headers have one of two names; any of the signatures will do, of which there are several while
 * the secret is being changed.
 */
export async function isSigned(
  headers: Headers,
  body: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> {
  const header = (name: string) => headers.get(`svix-${name}`) ?? headers.get(`webhook-${name}`) ?? '';
  const [id, timestamp] = [header('id'), header('timestamp')];
  if (!id || !timestamp || !isRecent(Number(timestamp) * 1000)) return false;
  const key = fromBase64(secret.replace(/^whsec_/, ''));
  const signatures = header('signature')
    .split(' ', mostSignatures)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => isHmac('SHA-256', key, [`${id}.${timestamp}.`, body], fromBase64(one.slice(3))));
  return (await Promise.all(signatures)).includes(true);
}

/** More secrets than these are not valid at a time. */
const mostSignatures = 10;
