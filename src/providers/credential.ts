import type { Connector, CredentialField } from './connector.ts';

/** No credential that we know of is nearly as long. */
export const maxCredential = 4000;

/** What a form asks for of a credential, each by the name of its input: the whole, or each of its parts. */
export const inputsOf = ({
  credential: { fields, label, example },
}: Pick<Connector, 'credential'>): (CredentialField & { input: string })[] =>
  fields?.map((field) => ({ ...field, input: `credential.${field.name}` })) ?? [
    { name: 'credential', input: 'credential', label, isSecret: true, hint: `Looks like ${example}` },
  ];

/** A credential as `readCredential` takes it, from what a form says of each input. */
export function credentialFrom(
  connector: Pick<Connector, 'credential'>,
  value: (input: string) => string,
): string {
  if (!connector.credential.fields) return value('credential');
  return JSON.stringify(
    Object.fromEntries(inputsOf(connector).map(({ name, input }) => [name, value(input)])),
  );
}
