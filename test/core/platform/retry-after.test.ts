import { parseRetryAfter } from '#src/core/platform/retry-after.ts';

it.each([
  [null, undefined],
  ['7', 7000],
  [' 57.6 ', 57_600],
  ['soon', undefined],
  ['-5', undefined],
  ['banana 5', undefined],
  ['12345678901234567890', undefined],
  ['Thu, 01 Jan 1970 00:01:00 GMT', 59_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['Thursday, 01-Jan-70 00:01:00 GMT', 59_000],
  ['Thu Jan  1 00:01:00 1970', 59_000],
  ['Thu, 01 Jan 1970 01:01:00 +0100', 59_000],
  ['1970-01-01T00:01:00Z', 59_000],
  ['Thu, 41 Jan 1970 00:01:00 GMT', undefined],
])('Retry-After %s is read as %s ms', (value, ms) => {
  expect(parseRetryAfter(value, 1000)).toBe(ms);
});
