import { dayMs, offsetAt } from './days.ts';

/** Times as `<input type="datetime-local">` has them, in a reader's zone: "2026-11-20T14:30". */

/** Whether a text is such a time, whether or not there is one. */
export const isLocalTime = (text: string): boolean => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:[\d.]+)?$/.test(text);

/**
 * The moment that a zone's clocks show as `text`, in milliseconds since 1970: the first, where they show it twice. Where
 * they skip it, as far after that as the text says.
 */
export function momentOf(zone: string, text: string): number {
  const shown = Date.parse(`${text}Z`);
  const [before = 0, after = 0] = [-dayMs, dayMs].map((aside) => offsetAt(zone, shown + aside));
  const found = [shown - before, shown - after].filter((at) => at + offsetAt(zone, at) === shown);
  return found.length > 0 ? Math.min(...found) : shown - before;
}

/** What a zone's clocks show at a moment, to the minute. */
export const localTime = (zone: string, at: number): string =>
  new Date(at + offsetAt(zone, at)).toISOString().slice(0, 16);
