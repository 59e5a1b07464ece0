import type { Context } from './context.ts';

/** The date of the API, in each reply's `API-Version`. It changes only with what would break a client. */
export const apiVersion = '2026-11-21';

/** Answers 200 with the envelope of spec 2.1; `next` appears only when there is more. */
export const ok = (c: Context, message: string, data: unknown, next?: string) =>
  c.json({ status: 200, message, data, ...(next && { next }) });

/** A time as the API writes it: RFC 3339, UTC, milliseconds. */
export const timestamp = (ms: number): string => new Date(ms).toISOString();

/** The same for a time that may be missing. */
export const timestampOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));
