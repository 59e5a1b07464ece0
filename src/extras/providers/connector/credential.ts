import { isPrintable } from '../../../core/platform/fields.ts';
import { parsedJson } from '../../../core/platform/json.ts';
import { notKnown } from '../../../core/platform/nearest.ts';
import { type Connector, type CredentialField, ProviderError } from './connector.ts';
import { at } from './read.ts';

/** No known credential is nearly as long. */
export const maxCredential = 4000;

const maxPart = 500;

/** The inputs of a form for a credential: the whole, or each of its parts. */
export const inputsOf = ({
  credential: { fields, label, example },
}: Pick<Connector, 'credential'>): (CredentialField & { input: string })[] =>
  fields?.map((field) => ({ ...field, input: `credential.${field.name}` })) ?? [
    {
      name: 'credential',
      input: 'credential',
      label,
      isSecret: true,
      hint: `Looks like ${example}`,
    },
  ];

/** A credential for `readCredential` from the inputs of a form. */
export function credentialFrom(
  connector: Pick<Connector, 'credential'>,
  value: (input: string) => string,
): string {
  if (!connector.credential.fields) return value('credential');
  return JSON.stringify(
    Object.fromEntries(inputsOf(connector).map(({ name, input }) => [name, value(input)])),
  );
}

/** The credential as stored, and its identity. @throws Problem: invalid, naming the part */
export function readCredential(
  { name: provider, credential: { label, fields, example } }: Connector,
  text: string,
  anyHost: boolean,
): { credential: string; identity: string } {
  if (!fields) {
    const word = text.trim();
    if (!/^[\x21-\x7e]{8,500}$/.test(word))
      throw new ProviderError(
        'invalid',
        `The ${label} must be one word of 8 to 500 characters, as ${provider} shows it.`,
      );
    return { credential: word, identity: word };
  }
  const must = (problem: string) =>
    new ProviderError('invalid', `The credential must be JSON, ${example}: ${problem}.`);
  const parsed = parsedJson(text);
  const known = fields.map(({ name }) => name);
  const unknown = Object.keys(Object(parsed)).find((name) => !known.includes(name));
  if (unknown !== undefined) throw must(`one of its names ${notKnown('part', unknown, known)}`);
  const parts = fields.map(({ name, otherwise, domain }) => {
    const value = at(parsed, name) || otherwise;
    const part = typeof value === 'string' ? value.trim() : '';
    if (part === '' || part.length > maxPart || !isPrintable(part))
      throw must(`${name} must have 1 to ${maxPart} characters`);
    if (domain && !anyHost && !isWithin(domain, part))
      throw new ProviderError(
        'invalid',
        `The ${name} must be a host of ${domain}, such as ${otherwise}.`,
      );
    return [name, part] as const;
  });
  // Names of databases and users are the same in any case, secrets are not.
  const identity = parts.flatMap(([name, part], i) => {
    const { isIdentity = false, isSecret = true } = fields[i] ?? {};
    return isIdentity ? [[name, isSecret ? part : part.toLowerCase()]] : [];
  });
  return {
    credential: JSON.stringify(Object.fromEntries(parts)),
    identity: JSON.stringify(identity),
  };
}

/** Whether a host, perhaps with `https://`, is the domain or below it. */
function isWithin(domain: string, part: string): boolean {
  const host = URL.parse(part.includes('://') ? part : `https://${part}`)?.hostname ?? '';
  return host === domain || host.endsWith(`.${domain}`);
}
