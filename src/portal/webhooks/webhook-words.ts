import { ACCIDENT, EVENT, type NotificationType } from '../../webhooks/notifications/types.ts';

/** Notification types in words. */
export const typeNames = { [ACCIDENT]: 'accidents', [EVENT]: 'safety events' };

/** What a webhook subscribes to, in words. */
export const typesOf = ({ notificationTypes }: { notificationTypes: NotificationType[] }): string =>
  notificationTypes.map((type) => typeNames[type]).join(' and ');

/** What a webhook is called: its name, or the host of its address. */
export const titleOf = ({ name, url }: { name: string | null; url: string }): string =>
  name ?? (URL.canParse(url) ? new URL(url).host : url);

/** The path of a webhook's page. */
export const pathOf = ({ id }: { id: string }): string => `/portal/webhooks/${id}`;

/** A text with its first letter as a capital. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Names as a list in words: at most five, and that there are more. */
export function listed(names: string[]): string {
  if (names.length > 5) return `${names.slice(0, 5).join(', ')} and others`;
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}
