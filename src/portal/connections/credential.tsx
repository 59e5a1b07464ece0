import type { FieldError } from '../../platform/errors.ts';
import { tooLong } from '../../platform/fields.ts';
import { type Connector, credentialFrom, inputsOf, maxCredential } from '../../providers/connector.ts';
import type { SentForm } from '../ui/form.ts';
import { Field } from '../ui/forms.tsx';

/** Where to create a credential of a provider, and what it has to be allowed. */
export const HowToCreate = ({ connector: { provider, credential } }: { connector: Connector }) => (
  <>
    <p class="sub mt-1">
      {credential.where}. {credential.scopes.length > 0 && 'It needs these scopes:'}
    </p>
    {credential.scopes.length > 0 && (
      <ul class="flex flex-wrap gap-1.5 mt-2" aria-label="Scopes">
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

/**
 * The fields of a credential. Of what was typed, `typed` comes back, but for secrets: they are in no page. What is wrong
 * with the credential as a whole is shown under its first secret field.
 */
export const CredentialFields = (props: {
  connector: Connector;
  typed: (input: string) => string;
  errors: FieldError[];
}) => {
  const { connector, typed, errors } = props;
  const inputs = inputsOf(connector);
  const first = inputs.find(({ isSecret }) => isSecret);
  const ofWhole = errors.find(({ field }) => field === 'credential');
  const shown = ofWhole && first ? [...errors, { ...ofWhole, field: first.input }] : errors;
  return (
    <>
      {inputs.map(({ input, label, isSecret, hint }) => (
        <Field
          name={input}
          label={label}
          type={isSecret ? 'password' : 'text'}
          value={isSecret ? '' : typed(input)}
          autocomplete="off"
          maxlength={maxCredential}
          hint={isSecret ? [hint && `${hint}.`, kept].filter(Boolean).join(' ') : hint}
          errors={shown}
        />
      ))}
    </>
  );
};

const kept = 'Stored encrypted, and never shown again.';

/** What a form says of a credential, or what is missing in it. */
export function sentCredential(
  connector: Connector,
  form: SentForm,
): { credential: string; errors: FieldError[] } {
  const errors = inputsOf(connector)
    .filter(({ input }) => form.value(input).trim() === '')
    .map(({ input }) => ({ field: input, message: 'is required' }));
  const credential = credentialFrom(connector, form.value);
  const problem = { field: 'credential', message: tooLong(maxCredential) };
  return { credential, errors: credential.length > maxCredential ? [...errors, problem] : errors };
}
