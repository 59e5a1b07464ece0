import { failureName } from '../../texts/outcome.ts';

export const hostOf = (url: string | null): string | null => url && (URL.parse(url)?.host ?? url);

/** What an attempt ended with, or null without one. */
export const resultOf = (
  attempt: { result: string; status?: number | null | undefined } | null,
): string | null =>
  attempt && (attempt.status ? `HTTP ${attempt.status}` : failureName(attempt.result));
