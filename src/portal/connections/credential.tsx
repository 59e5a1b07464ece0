import { invalid } from '../../platform/errors.ts';
import { tooLong } from '../../platform/fields.ts';
import type { Connector } from '../../providers/connector.ts';
import { credentialFrom, inputsOf, maxCredential } from '../../providers/credential.ts';
import { Field } from '../ui/forms.tsx';
import type { SentForm } from '../ui/reader.ts';

/** Where to create a credential of a provider, and its permissions. */
export const HowToCreate = ({ connector: { provider, credential } }: { connector: Connector }) => (
  <>
    <p class="sub mt-1">
      {credential.where}. {credential.scopes.length > 0 && 'It needs these permissions:'}
    </p>
    {credential.scopes.length > 0 && (
      <ul class="flex flex-wrap gap-1.5 mt-2" aria-label="Permissions">
        {credential.scopes.map((scope) => (
          <li class="chip">{scope}</li>
        ))}
      </ul>
    )}
    <p class="sub mt-2">
      <a href={`/docs/providers/${provider}`}>What is pulled, and how to set it up</a>
    </p>
  </>
);

export const CredentialFields = ({ connector }: { connector: Connector }) =>
  inputsOf(connector).map(({ input, label, isSecret, hint }) => (
    <Field
      name={input}
      label={label}
      type={isSecret ? 'password' : 'text'}
      autocomplete="off"
      maxlength={maxCredential}
      hint={isSecret ? [hint, kept].filter(Boolean).join('. ').replace('…. ', '… ') : hint}
    />
  ));

const kept = 'Stored encrypted, and never shown again.';

/** The input that shows a problem with the whole credential: the first secret one. */
export const mainInput = (connector: Connector): string =>
  inputsOf(connector).find(({ isSecret }) => isSecret)?.input ?? 'credential';

/** The credential in a form. @throws Refusal: invalid, for what is missing or too long */
export function sentCredential(connector: Connector, form: SentForm): string {
  const missing = inputsOf(connector).filter(({ input }) => form.value(input).trim() === '');
  const credential = credentialFrom(connector, form.value);
  const isLong = credential.length > maxCredential;
  const errors = [
    ...missing.map(({ input }) => ({ field: input, message: 'is required' })),
    ...(isLong ? [{ field: mainInput(connector), message: tooLong(maxCredential) }] : []),
  ];
  if (errors.length > 0) throw invalid('', errors);
  return credential;
}
