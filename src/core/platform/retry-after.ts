/** Every form that a time can have there: seconds, the three dates of RFC 9110, and RFC 3339. */
const seconds = /^\d{1,9}(?:\.\d{1,9})?$/;
const date = /^(?:[a-z]{3,9},? |\d{4}-\d\d-\d\dT).*\d\d:\d\d:\d\d/i;
const withZone = /(?:GMT|UTC|Z|[+-]\d\d:?\d\d)$/i;

/** The wait that a `Retry-After` header asks for, in milliseconds from `now`; undefined if it cannot be read. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (seconds.test(value)) return Math.round(Number(value) * 1000);
  // `asctime` names no zone and means GMT.
  const at = date.test(value)
    ? Date.parse(withZone.test(value) ? value : `${value} GMT`)
    : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
