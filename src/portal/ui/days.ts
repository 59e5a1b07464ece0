import { listTime } from '../../fleet/named-lists.ts';
import { dayMs } from '../../platform/durations.ts';
import type { FieldError } from '../../platform/errors.ts';
import { dayIn, longDay } from './time.tsx';

/** Days in a reader's time zone, written as `2026-11-20`. */

export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && text >= '1970-01-02' && isoDay(Date.parse(text)) === text;

export const addDays = (day: string, count: number): string => isoDay(Date.parse(day) + count * dayMs);

/** When a day begins in a zone, in milliseconds since 1970: at midnight, or when skipped midnight is over. */
export const startOfDay = (zone: string, day: string): number => momentOf(zone, `${day}T00:00`);

/** "Wednesday, November 18", "Today, Friday, November 20"; with the year, if it is another one. */
export function dayName(zone: string, day: string): string {
  const name = longDay('UTC', Date.parse(day));
  return day === dayIn(zone, Date.now()) ? `Today, ${name}` : name;
}

/** "November 16 – 22", "October 30 – November 2", both included; perhaps with the year. */
export function daysInWords(zone: string, from: string, to: string): string {
  const thisYear = dayIn(zone, Date.now()).slice(0, 4);
  const isThisYear = from.startsWith(thisYear) && to.startsWith(thisYear);
  return new Intl.DateTimeFormat('en-US', {
    ...({ timeZone: 'UTC', month: 'long', day: 'numeric' } as const),
    ...(!isThisYear && { year: 'numeric' }),
  }).formatRange(Date.parse(from), Date.parse(to));
}

const isoDay = (ms: number): string =>
  Number.isNaN(ms) || Math.abs(ms) > 8e15 ? '' : new Date(ms).toISOString().slice(0, 10);

/** How far a zone's clocks are ahead of UTC. The Swedish format is like ISO 8601. */
function offsetAt(zone: string, at: number): number {
  if (zone !== clock?.zone) {
    const format = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    clock = { zone, format };
  }
  return Date.parse(`${clock.format.format(at)}Z`) - Math.floor(at / 1000) * 1000;
}

/** Cached, because making a formatter takes longer than using it a hundred times. */
let clock: { zone: string; format: Intl.DateTimeFormat } | undefined;

/** Times as in `<input type="datetime-local">`, in a reader's zone: "2026-11-20T14:30". */

export const isLocalTime = (text: string): boolean =>
  isDay(text.slice(0, 10)) && /^.{10}T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/.test(text);

/** The first moment at which a zone's clocks show `text`; a skipped time is as far after the gap. */
export function momentOf(zone: string, text: string): number {
  const shown = Date.parse(`${text}Z`);
  const [before = 0, after = 0] = [-dayMs, dayMs].map((aside) => offsetAt(zone, shown + aside));
  const found = [shown - before, shown - after].filter((at) => at + offsetAt(zone, at) === shown);
  return found.length > 0 ? Math.min(...found) : shown - before;
}

/** The range of these days in a zone, both included, as lists take it; an empty one sets no limit. */
export function rangeOfDays(zone: string, from: string, to: string) {
  const wrong = Object.entries({ from, to }).filter(([, day]) => day !== '' && !isDay(day));
  const problems: FieldError[] = wrong.map(([field]) => ({
    field,
    message: 'Must be a date, such as 2026-11-20.',
  }));
  if (problems.length === 0 && to !== '' && from > to)
    problems.push({ field: 'to', message: 'Must not be before the first day.' });
  if (problems.length > 0) return { problems, range: {} };
  const dayAfter = to && addDays(to, 1);
  const end = isDay(dayAfter) ? startOfDay(zone, dayAfter) : Number.POSITIVE_INFINITY;
  return {
    problems,
    range: {
      ...(from && { from: [listTime(startOfDay(zone, from))] }),
      ...(to && { to: [listTime(end)] }),
    },
  };
}
