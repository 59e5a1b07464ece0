import type { FormProblem } from '../ui/form.ts';

/** What the API says of a webhook that is not valid, as the form says it: once, under the field. */
export function inFormWords({ message, errors }: FormProblem): FormProblem {
  const field = fieldOf[message];
  if (field) return { message: '', errors: [{ field, message: words[message] ?? message }] };
  const shown = errors.map(({ field, message }) => ({
    field: field.split('.')[0] ?? '',
    message: words[message] ?? message,
  }));
  return shown.length > 0 ? { message: '', errors: shown } : { message, errors };
}

/** Refusals that name no field. */
const fieldOf: { [message: string]: string } = {
  'Webhook with this URL already exist': 'url',
  'Invalid connection ids': 'connectionIds',
};

const words: { [message: string]: string } = {
  'Webhook with this URL already exist': 'Another webhook of your account has this URL.',
  'Invalid connection ids': 'Some of these connections do not exist any more. Open the form again.',
  'must be an absolute https URL':
    'Must start with https://. Deliveries contain personal data and are only sent encrypted.',
  'must not be a private, local or reserved address, nor this service itself':
    'Must be a public address. Private, local and reserved ones cannot be reached from here.',
  'must not contain a user name or password':
    'Must not contain a user name or password. Use a header for secrets.',
  'must use port 443 or one from 1024 up': 'Must use port 443 or one from 1024 up.',
  'must have at least one value': 'Choose at least one.',
};
