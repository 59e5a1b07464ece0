import { counted } from '../../webhooks/alerts/words.ts';
import type { Filters } from '../../webhooks/filters.ts';
import { ACCIDENT, EVENT, type NotificationType } from '../../webhooks/notifications/types.ts';

/** "1 delivery", "2 deliveries"; of `most`, "500 or more deliveries". */
export const deliveries = (count: number, most?: number): string =>
  counted(count, 'delivery', 'deliveries', most);

/** Notification types in words. */
const typeNames = { [ACCIDENT]: 'accidents', [EVENT]: 'safety events' };

/** What a webhook subscribes to, in words. */
export const typesOf = ({ notificationTypes }: { notificationTypes: NotificationType[] }): string =>
  notificationTypes.map((type) => typeNames[type]).join(' and ');

/** What the filters of a webhook let through, in words. */
export const filtersInWords = ({ minEventRisk, incidentTypes, vehicleGroups, accidentLevels }: Filters) => [
  ...(minEventRisk ? [`safety events of risk ${minEventRisk}${minEventRisk < 5 ? ' and above' : ''}`] : []),
  ...(incidentTypes ? [`incident types ${incidentTypes.join(', ')}`] : []),
  ...(accidentLevels ? [`accident levels ${accidentLevels.join(', ')}`] : []),
  ...(vehicleGroups ? [`vehicles in ${vehicleGroups.join(', ')}`] : []),
];

/** What a webhook is called: its name, or the host of its address. */
export const titleOf = ({ name, url }: { name: string | null; url: string }): string =>
  name ?? (URL.canParse(url) ? new URL(url).host : url);

/** The path of a webhook's page. */
export const pathOf = ({ id }: { id: string }): string => `/portal/webhooks/${id}`;

/** The pages above those of a webhook, if there is one yet. */
export const aboveOf = (webhook?: { id: string; name: string | null; url: string } | null) => [
  { href: '/portal/webhooks', name: 'Webhooks' },
  ...(webhook ? [{ href: pathOf(webhook), name: titleOf(webhook) }] : []),
];
