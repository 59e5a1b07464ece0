export const minuteMs = 60_000;
/** Every time zone's days begin with a quarter of an hour. */
export const quarterMs = 15 * minuteMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
