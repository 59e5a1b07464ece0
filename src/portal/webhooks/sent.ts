import { base64url } from '../../platform/crypto.ts';
import type { Attempt } from '../../webhooks/deliveries/record.ts';
import type { FormProblem, SentForm } from '../ui/form.ts';
import type { WebhookFields } from './webhook-merge.ts';

/** What a form shows. It carries what it has `shown`, so that saving can tell what was changed. */
export type FormState = {
  shown: WebhookFields;
  fields: WebhookFields;
  /** What connections are narrowed to. */
  find?: string;
  problem?: FormProblem;
  /** The outcome of a test. */
  tried?: Attempt;
  /** The place of the header that was just added. */
  added?: number;
};

/** What the fields of a webhook's form hold. */
export function sentFields(form: SentForm): WebhookFields {
  const values = form.values('headerValue');
  return {
    name: form.value('name').trim(),
    description: form.value('description').trim(),
    url: form.value('url').trim(),
    httpVerb: form.value('httpVerb'),
    notificationTypes: form.values('notificationTypes').map(Number),
    connectionIds: form.values('connectionIds'),
    headers: form
      .values('headerName')
      .map((name, place) => ({ name: name.trim(), value: values[place] ?? '' })),
  };
}

/** What a button of the form wants. Those but the first two only change what the form shows. */
export type Wanted = 'save' | 'test' | 'find' | 'secret' | 'row' | { remove: number };

/** The button that was pressed. The Enter key presses none: then it saves, or finds what was typed to be found. */
export function wantedOf(form: SentForm): Wanted {
  const button = form.value('do');
  const remove = /^remove (\d{1,3})$/.exec(button)?.[1];
  if (remove) return { remove: Number(remove) };
  const known = (['save', 'test', 'find', 'secret', 'row'] as const).find((name) => name === button);
  return known ?? (form.value('find') === form.value('found') ? 'save' : 'find');
}

export const isSaving = (wanted: Wanted): boolean => wanted === 'save';

const secretHeader = 'X-Webhook-Secret';
const secretBytes = 24;

/** What the form shows after a button that only changes that. Headers that were shown stay in their places. */
export function changedBy(
  wanted: Wanted,
  fields: WebhookFields,
  shown: WebhookFields,
): { fields: WebhookFields; added?: number } {
  const headers = fields.headers.filter(
    ({ name, value }, place) => place < shown.headers.length || name || value,
  );
  if (typeof wanted === 'object') {
    const without = fields.headers.map((row, place) =>
      place === wanted.remove ? { name: '', value: '' } : row,
    );
    return { fields: { ...fields, headers: without } };
  }
  if (wanted === 'row') return { fields: { ...fields, headers }, added: headers.length };
  if (wanted !== 'secret') return { fields };
  const secret = base64url(crypto.getRandomValues(new Uint8Array(secretBytes)));
  const found = headers.findIndex(({ name }) => name.toLowerCase() === secretHeader.toLowerCase());
  const added = found === -1 ? headers.length : found;
  return {
    fields: {
      ...fields,
      headers: headers.toSpliced(added, 1, { name: headers[found]?.name ?? secretHeader, value: secret }),
    },
    added,
  };
}
