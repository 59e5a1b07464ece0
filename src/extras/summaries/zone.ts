import { dayMs, quarterMs } from '../../core/platform/durations.ts';

/** "2026-11-20 07:00", a moment in a zone. */
const clockOf = (zone: string) => {
  const format = new Intl.DateTimeFormat('sv', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return (at: number): string => format.format(at);
};

/** The next moment at which the clocks of a zone show this hour. */
export function nextAt(zone: string, hour: number, now: number): number {
  const clock = clockOf(zone);
  const wanted = ` ${String(hour).padStart(2, '0')}:00`;
  const first = (Math.floor(now / quarterMs) + 1) * quarterMs;
  for (let at = first; at < first + 2 * dayMs; at += quarterMs)
    if (clock(at).endsWith(wanted)) return at;
  return first + dayMs; // a day whose clocks skip the hour
}

/** When this day of a zone and the `count` before it began, oldest first, and their names: "2026-11-20". */
export function daysUntil(zone: string, count: number, now: number) {
  const clock = clockOf(zone);
  const days: { day: string; start: number }[] = [];
  let at = Math.floor(now / quarterMs) * quarterMs;
  while (days.length <= count) {
    const day = clock(at).slice(0, 10);
    while (clock(at - quarterMs).startsWith(day)) at -= quarterMs;
    days.unshift({ day, start: at });
    at -= quarterMs;
  }
  return days;
}
