/* How an OAuth client asks an endpoint, and what of the response people may see. */

/** A client of a token endpoint, with the parameters that it sends besides. */
type Client = {
  clientId: string;
  clientSecret: string;
  params?: Record<string, string> | undefined;
};

/** Asks with the client in the body or in the header, and if that is `isRefused` the other way. */
export async function eitherWay<T>(
  inBody: boolean,
  ask: (inBody: boolean) => Promise<T>,
  isRefused: (response: T) => boolean | Promise<boolean>,
): Promise<{ last: T; inBody: boolean; refused?: T }> {
  const first = await ask(inBody);
  if (!(await isRefused(first))) return { last: first, inBody };
  return { last: await ask(!inBody), inBody: !inBody, refused: first };
}

/** The client as HTTP Basic has it. */
export function credentialOf({ clientId, clientSecret }: Client): string {
  const pair = [clientId, clientSecret].map((text) =>
    new URLSearchParams([['', text]]).toString().slice(1),
  );
  return btoa(pair.join(':'));
}

/** How much of a text is searched for secrets, and shown. */
export const maxSearched = 2000;
const maxShown = 300;

/** Text of an endpoint in one line, without secrets and what we sent. */
export function shown(said: unknown, client: Client): string {
  if (typeof said !== 'string') return '';
  const text = said.slice(0, maxSearched);
  const { clientSecret, params = {} } = client;
  const sent = Object.entries(params).filter(
    ([name, value]) => !isPublic.test(name) && value.length > 7,
  );
  const secrets = [
    clientSecret,
    btoa(clientSecret),
    credentialOf(client),
    ...sent.map(([, value]) => value),
  ];
  if (secrets.some((secret) => repeats(text, secret)))
    return '(not shown, because it repeats a secret)';
  const line = text
    .replace(/eyJ[\w-]*(?:\.[\w-]*)*|[\w+/=-]{41,}/g, '…')
    .replace(/[\p{C}\p{Z}]+/gu, ' ');
  return line
    .slice(0, maxShown)
    .replace(/[ .]+$/, '')
    .trim();
}

/** Parameters that an endpoint may repeat: what it says of them is what people need to know. */
const isPublic = /^(?:audience|resource)$/i;

/** A part of a secret of so many letters and digits is not there by chance. */
const telling = 12;

/** Whether a text repeats a part of a secret, also percent-encoded or escaped. */
function repeats(text: string, secret: string): boolean {
  const decoded = text
    .replaceAll('&amp;', '&')
    .replace(/%([\da-f]{2})|\\u([\da-f]{4})|&#x([\da-f]{1,4});/gi, (_, ...hex: string[]) =>
      String.fromCharCode(Number.parseInt(hex.find(Boolean) ?? '', 16)),
    )
    .replace(/&#(\d{1,4});/g, (_, code: string) => String.fromCharCode(Number(code)));
  if (text.includes(secret) || decoded.includes(secret)) return true;
  const letters = lettersOf(secret);
  const [within, length] = [[text, decoded].map(lettersOf), Math.min(telling, letters.length)];
  if (length < telling / 2) return false;
  for (let at = 0; at + length <= letters.length; at += telling / 4)
    if (within.some((one) => one.includes(letters.slice(at, at + length)))) return true;
  return false;
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');
