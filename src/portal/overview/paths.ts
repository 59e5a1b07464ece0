import type { Span } from '../../fleet/trends/read.ts';

const dayMs = 86_400_000;

/** A day, counted since 1970, as addresses have it: `2026-11-20`. */
export const dayText = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** The list of safety events with filters set: the days of a span, and others. */
export const eventsIn = ({ today, days }: Span, filters: Record<string, string> = {}): string =>
  eventsPath({ from: dayText(today - days + 1), to: dayText(today), ...filters });

/** The list of safety events with these filters. */
export const eventsPath = (filters: Record<string, string>): string =>
  `/portal/events?${new URLSearchParams(filters)}`;
