import type { Child } from 'hono/jsx';
import { dayMs } from '../../platform/durations.ts';
import { reader } from './reader.ts';

/** The time zone in words, such as "Eastern Standard Time (New York)". */
export const ZoneName = () => <>{zoneName(reader().zone)}</>;

export function zoneName(zone: string): string {
  const city = zone.includes('/') ? ` (${zone.split('/').at(-1)?.replaceAll('_', ' ')})` : '';
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'long' }).formatToParts();
  return (parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone) + city;
}

/**
 * A time in the reader's zone: "14:32" today, "Nov 18, 17:41" this year, otherwise with the year; UTC on hover. A dash
 * for null.
 */
export const Time = (props: { at: number | string | null | undefined; seconds?: boolean }) => {
  const { at, seconds = false } = props;
  const { zone } = reader();
  if (at === null || at === undefined) return <>–</>;
  return <Marked at={at}>{shortTime(zone, new Date(at).getTime(), seconds)}</Marked>;
};

/** "14:32" in the reader's zone, where the day is shown elsewhere. */
export const Clock = ({ at, seconds = false }: { at: number | string; seconds?: boolean }) => {
  const { zone } = reader();
  return <Marked at={at}>{clockTime(zone, new Date(at).getTime(), seconds)}</Marked>;
};

/**
 * "Friday, November 20, 14:32:09" in the reader's zone, with the year if it is not this one, and how long ago, within a
 * day.
 */
export const FullTime = ({ at }: { at: number | string }) => {
  const { zone } = reader();
  const ms = new Date(at).getTime();
  return (
    <>
      <Marked at={at}>
        {longDay(zone, ms)}, {clockTime(zone, ms, true)}
      </Marked>
      {Math.abs(Date.now() - ms) < dayMs && [', ', <Ago at={at} />]}
    </>
  );
};

/** The day in the reader's zone: "Today", "Nov 18" this year, otherwise with the year; UTC on hover. */
export const Day = ({ at }: { at: number }) => {
  const { zone } = reader();
  return (
    <Marked at={at}>{dayIn(zone, at) === dayIn(zone, Date.now()) ? 'Today' : shortDate(zone, at)}</Marked>
  );
};

/** A machine-readable time, with UTC on hover. */
const Marked = ({ at, children }: { at: number | string; children: Child }) => {
  const iso = new Date(at).toISOString();
  return (
    <time datetime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`}>
      {children}
    </time>
  );
};

/** "14:32" in a zone. */
export const clockTime = (timeZone: string, at: number, seconds = false): string =>
  new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
    ...(seconds && { second: '2-digit' }),
  } as const).format(at);

/** "8 s", "1 min 56 s", "2 h 5 min", "3 d 4 h": the two largest units of a time span in milliseconds. */
export function spanInWords(ms: number): string {
  let left = Math.max(0, Math.round(ms / 1000));
  const parts = units.map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return { unit, count };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  if (first === -1) return '0 s';
  const shown = parts.slice(first, first + 2).filter(({ count }) => count > 0);
  return shown.map(({ unit, count }) => `${count} ${unit}`).join(' ');
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** "40 seconds ago", up to a day; then as `Time`. */
export const Ago = ({ at }: { at: number | string | null | undefined }) => {
  if (at === null || at === undefined) return <>–</>;
  const seconds = Math.round((Date.now() - new Date(at).getTime()) / 1000);
  if (seconds < 0 || seconds >= 86_400) return <Time at={at} />;
  return <Marked at={at}>{agoInWords(seconds)}</Marked>;
};

function agoInWords(seconds: number): string {
  const ago = new Intl.RelativeTimeFormat('en');
  if (seconds < 10) return 'just now';
  if (seconds < 60) return ago.format(-seconds, 'second');
  if (seconds < 3600) return ago.format(-Math.floor(seconds / 60), 'minute');
  return ago.format(-Math.floor(seconds / 3600), 'hour');
}

/** The day of a time in a zone, as "2026-11-20". */
export function dayIn(zone: string, at: number): string {
  if (zone !== days?.zone) days = { zone, format: new Intl.DateTimeFormat('en-CA', { timeZone: zone }) };
  return days.format.format(at);
}

/** Cached, because making a formatter takes longer than using it a hundred times. */
let days: { zone: string; format: Intl.DateTimeFormat } | undefined;

/** "Friday, November 20"; with the year, if it is not this one. */
export const longDay = (zone: string, at: number): string =>
  dateIn(zone, at, { weekday: 'long', month: 'long', day: 'numeric' });

/** "Nov 18"; with the year, if it is not this one. */
export const shortDate = (zone: string, at: number): string =>
  dateIn(zone, at, { month: 'short', day: 'numeric' });

function dateIn(zone: string, at: number, parts: Intl.DateTimeFormatOptions): string {
  const [year, thisYear] = [at, Date.now()].map((time) => dayIn(zone, time).slice(0, 4));
  const options = { timeZone: zone, ...parts, ...(year !== thisYear && { year: 'numeric' as const }) };
  return new Intl.DateTimeFormat('en-US', options).format(at);
}

/** "14:32", "Nov 18, 17:41" or "Nov 18, 2025, 17:41". */
function shortTime(zone: string, at: number, seconds: boolean): string {
  const clock = clockTime(zone, at, seconds);
  return dayIn(zone, at) === dayIn(zone, Date.now()) ? clock : `${shortDate(zone, at)}, ${clock}`;
}

export function isTimeZone(name: string): boolean {
  try {
    return name.length <= 64 && new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}
