import { dayMs } from '../../platform/durations.ts';
import { OneOf } from '../../platform/fields.ts';

/** The notification types. D1 stores a set of them as bits. */
export const ACCIDENT = 1;
export const EVENT = 2;
export type NotificationType = typeof ACCIDENT | typeof EVENT;
export const notificationTypes = [ACCIDENT, EVENT] as const;
export const NotificationCode = OneOf(notificationTypes, 'must be 1 (accident) or 2 (event)');

/** Older events are no news: nobody is notified. Accidents always are. */
export const newsMs = 7 * dayMs;

/** The level of an event's notification; an accident's are 1 to 3. */
export const EVENT_LEVEL = 0;

/** Accident levels: first detection, verified, report-ready. */
export const accidentLevels = [1, 2, 3] as const;
export const Level = OneOf(accidentLevels, 'must be 1, 2 or 3');

export const levelNames = ['First detection', 'Verified', 'Report ready'];

/** The type of a notification of a level: only an event has level 0. */
export const typeOfLevel = (level: number): NotificationType =>
  level === EVENT_LEVEL ? EVENT : ACCIDENT;
