/**
 * The pages of single records. A record that has moved to the archive is found by its time, which is why its link says it:
 * a link that somebody keeps leads to it also years later.
 */
export const eventPath = ({ id, startedAt }: { id: string; startedAt: string }): string =>
  `/portal/events/${id}?at=${Date.parse(startedAt)}`;

export const accidentPath = ({ eventId, eventTime }: { eventId: string; eventTime: string }): string =>
  `/portal/accidents/${eventId}?at=${Date.parse(eventTime)}`;

export const tripPath = ({ id, startedAt }: { id: string; startedAt: string }): string =>
  `/portal/trips/${id}?at=${Date.parse(startedAt)}`;

/** The time that such a link says, in milliseconds since 1970. */
export const timeIn = (at: string | undefined): number | undefined =>
  at !== undefined && /^\d{1,14}$/.test(at) ? Number(at) : undefined;
