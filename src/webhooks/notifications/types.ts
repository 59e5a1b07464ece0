/** The notification types. As bits, they are also how D1 keeps a set of them. */
export const ACCIDENT = 1;
export const EVENT = 2;
export type NotificationType = typeof ACCIDENT | typeof EVENT;
export const notificationTypes = [ACCIDENT, EVENT] as const;

/** The level that an event's notification has; an accident's are 1 to 3. */
export const EVENT_LEVEL = 0;

/** Accident levels: first detection, verified, report-ready. */
export const accidentLevels = [1, 2, 3] as const;

/** What the levels of an accident are called, from the first on. */
export const levelNames = ['First detection', 'Verified', 'Report ready'];

/** What a notification of a level is about: only an event has level 0. */
export const typeOfLevel = (level: number): NotificationType => (level === EVENT_LEVEL ? EVENT : ACCIDENT);
