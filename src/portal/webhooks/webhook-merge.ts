import * as v from 'valibot';
import { invalid } from '../../platform/errors.ts';
import type { StoredWebhook } from '../../webhooks/service.ts';

const WebhookFields = v.object({
  name: v.optional(v.string(), ''),
  description: v.optional(v.string(), ''),
  url: v.string(),
  httpVerb: v.string(),
  notificationTypes: v.array(v.number()),
  connectionIds: v.array(v.string()),
  /** Without a value where that is hidden. */
  headers: v.array(v.object({ name: v.string(), value: v.optional(v.string()) })),
});

/** What a webhook's form holds; of notification types and connections those that are checked. */
export type WebhookFields = v.InferOutput<typeof WebhookFields>;

/** Reads what a form says that it showed. @throws Refusal: invalid */
export function parseShown(text: string): WebhookFields {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), WebhookFields), text);
  if (!result.success) throw invalid('The form is incomplete. Open it again and retry.');
  return result.output;
}

/**
 * Applies to a webhook as it is `now` what a person changed in its form: `shown` is what the form held when it
 * was opened, `sent` what it held when it was sent. Whatever the person did not see or did not change stays as it
 * is now. `now` is undefined for a webhook that is yet to be created. The result still has to be validated.
 */
export function mergeWebhook(
  now: Omit<StoredWebhook, 'id' | 'createdAt' | 'revision'> | undefined,
  shown: WebhookFields,
  sent: WebhookFields,
) {
  return {
    name: now && sent.name === shown.name ? (now.name ?? '') : sent.name,
    description: now && sent.description === shown.description ? (now.description ?? '') : sent.description,
    url: now && sent.url === shown.url ? now.url : sent.url,
    httpVerb: now && sent.httpVerb === shown.httpVerb ? now.httpVerb : sent.httpVerb,
    notificationTypes: mergeChoices(
      now?.notificationTypes ?? [],
      shown.notificationTypes,
      sent.notificationTypes,
    ),
    connectionIds: mergeChoices(now?.connectionIds ?? [], shown.connectionIds, sent.connectionIds),
    headers: mergeHeaders(now?.headers ?? {}, shown.headers, sent.headers),
  };
}

/** What is chosen now, without what the person has unchecked, and with what they have checked. */
function mergeChoices<T>(now: T[], shown: T[], sent: T[]): T[] {
  const [before, after] = [new Set(shown), new Set(sent)];
  return [...after.difference(before).union(new Set(now).difference(before.difference(after)))];
}

/** Rows are in the order in which they were shown, followed by new ones. A hidden value that is empty is kept. */
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
