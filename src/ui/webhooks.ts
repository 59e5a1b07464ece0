import { ACCIDENT, EVENT, type NotificationType } from '../core/webhooks/notifications/types.ts';
import { counted } from '../texts/words.ts';

/** "1 delivery", "2 deliveries"; of `most`, "500 or more deliveries". */
export const deliveries = (count: number, most?: number): string =>
  counted(count, 'delivery', 'deliveries', most);

const typeNames = { [ACCIDENT]: 'accidents', [EVENT]: 'safety events' };

export const typesOf = ({ notificationTypes }: { notificationTypes: NotificationType[] }): string =>
  notificationTypes.map((type) => typeNames[type]).join(' and ');

/** A webhook's name, otherwise the host of its address. */
export const titleOf = ({ name, url }: { name: string | null; url: string }): string =>
  name ?? (URL.canParse(url) ? new URL(url).host : url);

export const pathOf = ({ id }: { id: string }): string => `/portal/webhooks/${id}`;

/** The pages above those of a webhook, if it exists. */
export const aboveOf = (webhook?: { id: string; name: string | null; url: string } | null) => [
  { href: '/portal/webhooks', name: 'Webhooks' },
  ...(webhook ? [{ href: pathOf(webhook), name: titleOf(webhook) }] : []),
];
