import { hourMs, minuteMs } from '../core/platform/durations.ts';

/** The duration of a call: "41 ms", "2,140 ms", "15 s". */
export const duration = (ms: number): string =>
  ms < 10_000 ? `${ms.toLocaleString('en')} ms` : `${Math.round(ms / 1000)} s`;

/** A wait of any length in words: "9.8 ms", "0.21 s", "4.2 min", "13 h"; "never" if infinite. */
export function waitInWords(ms: number): string {
  if (!Number.isFinite(ms)) return 'never';
  const [unit, size] = waitUnits.find(([, , below]) => ms < below) ?? ['h', hourMs];
  return `${Number((ms / size).toPrecision(2))} ${unit}`;
}

/** A unit, how many ms it has, and for waits of less than so many. */
const waitUnits = [
  ['ms', 1, 100],
  ['s', 1000, minuteMs],
  ['min', minuteMs, hourMs],
] as const;

/** A count with its noun: `1 delivery`, `1,234 deliveries`; from `max` on, `100 or more deliveries`. */
export function counted(
  count: number,
  one: string,
  many: string,
  max = Number.POSITIVE_INFINITY,
): string {
  const digits = count.toLocaleString('en-US');
  return count >= max ? `${digits} or more ${many}` : `${digits} ${count === 1 ? one : many}`;
}

/** A count capped at `most`, which means that many or more: "37", "1,000+". */
export const cappedCount = (count: number, most: number): string =>
  `${count.toLocaleString('en')}${count < most ? '' : '+'}`;

/** A share from 0 to 1 as "97.6%", rounded down: less than all is never "100%". */
export function percent(share: number, digits = 0): string {
  const scale = 10 ** digits;
  return `${Math.floor(Math.min(1, share) * 100 * scale) / scale}%`;
}

/** A size: "640 KB", "12.3 MB", "1.20 GB". */
export function sizeInWords(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} KB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/** "950", "1.2K" */
export const compact = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value);

/** Names as a list in words: at most five, and that there are others. */
export function listed(names: string[]): string {
  if (names.length > 5) return `${names.slice(0, 5).join(', ')} and others`;
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

/** A time to the minute in a zone: `2026-11-20 20:00 UTC`. The Swedish locale is like ISO 8601. */
export const minuteOf = (ms: number, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat('sv', {
    ...{
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    },
    timeZoneName: 'short',
  } as const).format(ms);
