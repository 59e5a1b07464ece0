import * as v from 'valibot';
import { base64url } from '../../platform/crypto.ts';
import { invalid } from '../../platform/errors.ts';
import type { Attempt } from '../../webhooks/deliveries/record.ts';
import { plainFields, type WebhookField, webhookFields } from '../../webhooks/fields.ts';
import type { StoredWebhook } from '../../webhooks/stored.ts';
import type { FormProblem } from '../ui/form.ts';
import type { SentForm } from '../ui/reader.ts';

/** The state of a form. It carries what it has `shown`, so that saving knows what was changed. */
export type FormState = {
  shown: WebhookFields;
  fields: WebhookFields;
  problem?: FormProblem;
  tried?: Attempt;
  /** The place of the header that was just added. */
  added?: number;
};

export function sentFields(form: SentForm): WebhookFields {
  const values = form.values('headerValue');
  return {
    ...eachText((field) => form.value(field).trim()),
    notificationTypes: form.values('notificationTypes').map(Number),
    connectionIds: form.values('connectionIds'),
    headers: form
      .values('headerName')
      .map((name, place) => ({ name: name.trim(), value: values[place] ?? '' })),
  };
}

/** The buttons of the form. All but the first two only change what the form shows. */
const buttons = ['save', 'test', 'secret', 'row'] as const;
type Wanted = (typeof buttons)[number] | { remove: number };

/** The button that was pressed. The Enter key saves. */
export function wantedOf(form: SentForm): Wanted {
  const button = form.value('do');
  const remove = /^remove (\d{1,3})$/.exec(button)?.[1];
  if (remove) return { remove: Number(remove) };
  return buttons.find((name) => name === button) ?? 'save';
}

const secretHeader = 'X-Webhook-Secret';
const secretBytes = 24;

/** The form after a button that only changes it. Headers keep their places. */
export function changedBy(
  wanted: Wanted,
  fields: WebhookFields,
  shown: WebhookFields,
): { fields: WebhookFields; added?: number } {
  const headers = filledRows(fields, shown);
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

/** The rows of headers that were shown, and filled-in ones. */
export const filledRows = (fields: WebhookFields, shown: WebhookFields): WebhookFields['headers'] =>
  fields.headers.filter(({ name, value }, place) => place < shown.headers.length || name || value);

const textFields = ['name', 'description', ...plainFields] as const;
type TextField = (typeof textFields)[number];

const WebhookFields = v.object({
  ...v.entriesFromList(textFields, v.optional(v.string(), '')),
  notificationTypes: v.array(v.number()),
  connectionIds: v.array(v.string()),
  /** Without a value where that is hidden. */
  headers: v.array(v.object({ name: v.string(), value: v.optional(v.string()) })),
});

/** The content of a webhook's form; of notification types and connections the checked ones. */
export type WebhookFields = v.InferOutput<typeof WebhookFields>;

/** Parses what a form has shown. @throws Refusal: invalid */
export function parseShown(text: string): WebhookFields {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), WebhookFields), text);
  if (!result.success) throw invalid('The form is incomplete. Open it again and retry.');
  return result.output;
}

/**
 * Applies a person's changes to a webhook as it is `now`: `shown` is the form when it was opened, `sent` when it was
 * submitted. What they did not see or change stays as it is now. `now` is undefined for a new webhook. The result still
 * has to be validated.
 */
export function mergeWebhook(
  now: Omit<StoredWebhook, 'id' | 'createdAt' | 'revision'> | undefined,
  shown: WebhookFields,
  sent: WebhookFields,
) {
  return {
    ...eachText((field) =>
      now && sent[field] === shown[field] ? (now[field] ?? '') : fieldValue(field, sent[field]),
    ),
    notificationTypes: mergeChoices(
      now?.notificationTypes ?? [],
      shown.notificationTypes,
      sent.notificationTypes,
    ),
    connectionIds: mergeChoices(now?.connectionIds ?? [], shown.connectionIds, sent.connectionIds),
    headers: mergeHeaders(now?.headers ?? {}, shown.headers, sent.headers),
  };
}

/** A value for each text field of the form, by name. */
export const eachText = <T>(make: (field: TextField) => T) =>
  Object.fromEntries(textFields.map((field) => [field, make(field)])) as { [field in TextField]: T }; // of all of them

/** The value of a text field: a number where the field is one. */
const fieldValue = (field: TextField, text: string): string | number =>
  typeof declared[field]?.example === 'number' ? Number(text) : text;

const declared: { [name: string]: WebhookField } = webhookFields;

export const initialOf = (field: string): string => declared[field]?.initial ?? '';

/** The current choices, without those that the person has unchecked, and with those they have checked. */
function mergeChoices<T>(now: T[], shown: T[], sent: T[]): T[] {
  const [before, after] = [new Set(shown), new Set(sent)];
  return [...after.difference(before).union(new Set(now).difference(before.difference(after)))];
}

/** Rows are in the order in which they were shown, followed by new ones. A hidden empty value is kept. */
function mergeHeaders(
  now: Record<string, string>,
  shown: WebhookFields['headers'],
  sent: WebhookFields['headers'],
): Record<string, string> {
  const current = new Map(Object.entries(now));
  const changed = sent
    .map(({ name, value = '' }, place) => {
      const before = shown[place];
      const isKept = before !== undefined && value === (before.value ?? '');
      return { name, value: isKept ? current.get(before.name) : value, before, isKept };
    })
    .filter(({ name, before, isKept }) => !(isKept && name === before?.name));
  const merged = new Map(current);
  for (const { before } of changed) if (before) merged.delete(before.name);
  for (const { name, value } of changed) if (name !== '' && value !== undefined) merged.set(name, value);
  return Object.fromEntries(merged);
}
