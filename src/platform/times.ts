/** A time to the minute in a zone: `2026-11-20 20:00 UTC`. The Swedish locale is like ISO 8601. */
export const minuteOf = (ms: number, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat('sv', {
    ...{ timeZone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    timeZoneName: 'short',
  } as const).format(ms);
