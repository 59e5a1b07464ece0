import { fromHex, isHmac } from '../signature.ts';

/**
 * Whether Motive signed a call: its body alone, with the secret as text. It signs no time, so that a call can be sent
 * again by whoever has seen it: all that this does is to make the pull due.
 */
export const isSigned = (headers: Headers, body: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean> =>
  isHmac('SHA-1', bytesOf(secret), [body], fromHex(headers.get('x-kt-webhook-signature') ?? ''));

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text));
