import { useContext } from 'hono/jsx';
import { dayMs } from '../core/platform/durations.ts';
import type { FieldError } from '../core/platform/errors.ts';
import { listTime } from './read/named-lists.ts';
import { PageReader } from './reader.ts';

/** The time zone in words, such as "Eastern Standard Time (New York)". */
export const ZoneName = () => <>{zoneName(useContext(PageReader).zone)}</>;

export function zoneName(zone: string): string {
  const city = zone.includes('/') ? ` (${zone.split('/').at(-1)?.replaceAll('_', ' ')})` : '';
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    timeZoneName: 'long',
  }).formatToParts();
  return (parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone) + city;
}

/** Shows a time in the reader's zone in these words, machine-readable, with UTC on hover; a dash for null. */
const shownAs =
  (inWords: (zone: string, at: number, seconds: boolean) => string) =>
  ({ at, seconds = false }: { at: number | string | null | undefined; seconds?: boolean }) => {
    if (at === null || at === undefined) return <>–</>;
    const time = new Date(at);
    const iso = time.toISOString();
    return (
      <time datetime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`}>
        {inWords(useContext(PageReader).zone, time.getTime(), seconds)}
      </time>
    );
  };

/** "14:32" today, "Nov 18, 17:41" this year, otherwise with the year. */
export const Time = shownAs(shortTime);

/** "14:32", where the day is shown elsewhere. */
export const Clock = shownAs((zone, at) => clockTime(zone, at));

/** "Friday, November 20, 14:32:09", with the year if it is not this one, and how long ago, within a day. */
export const FullTime = shownAs((zone, at) =>
  [longDay(zone, at), clockTime(zone, at, true), agoInWords(at)].filter(Boolean).join(', '),
);

/** "Today", "Nov 18" this year, otherwise with the year. */
export const Day = shownAs((zone, at) => (isToday(zone, at) ? 'Today' : shortDate(zone, at)));

/** "40 seconds ago", up to a day; then as `Time`. */
export const Ago = shownAs((zone, at) => agoInWords(at) ?? shortTime(zone, at, false));

function agoInWords(at: number): string | undefined {
  const seconds = Math.round((Date.now() - at) / 1000);
  if (seconds < 0 || seconds >= 86_400) return undefined;
  if (seconds < 10) return 'just now';
  const unit = seconds < 60 ? 'second' : seconds < 3600 ? 'minute' : 'hour';
  const size = { second: 1, minute: 60, hour: 3600 }[unit];
  return new Intl.RelativeTimeFormat('en').format(-Math.floor(seconds / size), unit);
}

const isToday = (zone: string, at: number): boolean => dayIn(zone, at) === dayIn(zone, Date.now());

/** "14:32" in a zone. */
export const clockTime = (zone: string, at: number, seconds = false): string =>
  localTime(zone, at).slice(11, seconds ? 19 : 16);

/** "8 s", "1 min 56 s", "2 h 5 min", "3 d 4 h": the two largest units of a time span in milliseconds. */
export function spanInWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const counts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = counts.findIndex(([count]) => count > 0);
  const shown = counts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ') || '0 s';
}

/** The day of a time in a zone, as "2026-11-20". */
export const dayIn = (zone: string, at: number): string => localTime(zone, at).slice(0, 10);

/** "2026-11-20 14:32:09", a time in a zone as spreadsheets read it: the Swedish format. */
export function localTime(zone: string, at: number): string {
  if (zone !== local?.zone) {
    const format = new Intl.DateTimeFormat('sv', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    local = { zone, format };
  }
  return local.format.format(at);
}

/** Cached, because making a formatter takes longer than using it a hundred times. */
let local: { zone: string; format: Intl.DateTimeFormat } | undefined;

/** "Friday, November 20"; with the year, if it is not this one. */
export const longDay = (zone: string, at: number): string =>
  dateIn(zone, at, { weekday: 'long', month: 'long', day: 'numeric' });

/** "Nov 18"; with the year, if it is not this one. */
export const shortDate = (zone: string, at: number): string =>
  dateIn(zone, at, { month: 'short', day: 'numeric' });

function dateIn(zone: string, at: number, parts: Intl.DateTimeFormatOptions): string {
  const [year, thisYear] = [at, Date.now()].map((time) => dayIn(zone, time).slice(0, 4));
  const options = {
    timeZone: zone,
    ...parts,
    ...(year !== thisYear && { year: 'numeric' as const }),
  };
  return new Intl.DateTimeFormat('en-US', options).format(at);
}

/** "14:32", "Nov 18, 17:41" or "Nov 18, 2025, 17:41". */
function shortTime(zone: string, at: number, seconds: boolean): string {
  const clock = clockTime(zone, at, seconds);
  return isToday(zone, at) ? clock : `${shortDate(zone, at)}, ${clock}`;
}

export function isTimeZone(name: string): boolean {
  try {
    return name.length <= 64 && new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}

/** Days in a reader's time zone, written as `2026-11-20`. */

export const firstDay = '1970-01-02';

export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && text >= firstDay && isoDay(Date.parse(text)) === text;

export const addDays = (day: string, count: number): string =>
  isoDay(Date.parse(day) + count * dayMs);

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

/** How far a zone's clocks are ahead of UTC. */
const offsetAt = (zone: string, at: number): number =>
  Date.parse(`${localTime(zone, at)}Z`) - Math.floor(at / 1000) * 1000;

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
