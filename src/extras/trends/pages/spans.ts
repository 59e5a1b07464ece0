import { quarterMs } from '../../../core/platform/durations.ts';
import { addDays, dayIn, startOfDay } from '../../../ui/time.tsx';
import type { Span } from '../read.ts';

/** The span of so many days in a zone now: of one, yesterday. */
export const currentSpan = (zone: string, days: number): Span => {
  const today = dayIn(zone, Date.now());
  return spanOf(zone, days === 1 ? addDays(today, -1) : today, days);
};

/** The days of a zone up to `today`, and as many before. */
export function spanOf(zone: string, today: string, days: number): Span {
  const first = addDays(today, 1 - 2 * days);
  const starts = Array.from({ length: 2 * days + 1 }, (_, i) =>
    Math.floor(startOfDay(zone, addDays(first, i)) / quarterMs),
  );
  return { today, days, starts };
}

/** "Yesterday", "30 days" */
export const spanName = (days: number): string => (days === 1 ? 'Yesterday' : `${days} days`);
