/** Encodes bytes as base64url without padding. */
export const base64url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true });

/** Decodes base64url. @throws SyntaxError for anything else */
export const fromBase64url = (text: string): Uint8Array =>
  Uint8Array.fromBase64(text, { alphabet: 'base64url' });
