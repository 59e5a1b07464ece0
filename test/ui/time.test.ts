import fc from 'fast-check';
import { quarterMs } from '#src/core/platform/durations.ts';

import { dayIn, daysInWords, isDay, isLocalTime, momentOf, startOfDay } from '#src/ui/time.tsx';

it('a day begins at its first moment, with a quarter of an hour as the overview counts, in every zone', () => {
  for (const zone of Intl.supportedValuesOf('timeZone'))
    fc.assert(
      fc.property(fc.integer({ min: 12_000, max: 25_000 }), (number) => {
        const day = new Date(number * 86_400_000).toISOString().slice(0, 10);
        const at = startOfDay(zone, day);
        expect(dayIn(zone, at) >= day).toBe(true); // later in Samoa in 2011, which skipped a day
        expect(dayIn(zone, at - 1) < day).toBe(true);
        if (number >= 20_000) expect(at % quarterMs).toBe(0);
      }),
      { numRuns: 30 },
    );
});

it('days and times are those of the calendar, as fields have them', () => {
  const days = '2026-11-20 2024-02-29 2026-02-29 2026-13-01 0000-01-01 20261120 '.split(' ');
  expect(days.filter(isDay)).toEqual(['2026-11-20', '2024-02-29']);
  const times = ['2026-11-20T14:30', '2026-11-20T14:30:15'];
  const others = ['2026-02-30T14:30', '2026-11-20T24:00', '2026-11-20'];
  expect([...times, ...others].filter(isLocalTime)).toEqual(times);
});

it.each([
  ['2025-11-16', '2025-11-20', 'November 16 – 20, 2025'],
  ['2025-11-20', '2025-11-20', 'November 20, 2025'],
  ['2025-12-30', '2026-01-02', 'December 30, 2025 – January 2, 2026'],
])('%s to %s is %s', (from, to, words) => {
  expect(daysInWords('UTC', from, to).replaceAll('\u2009', ' ')).toBe(words);
});

it.each([
  ['UTC', '2026-11-20T14:30', '2026-11-20T14:30:00Z'],
  ['America/New_York', '2026-11-20T14:30', '2026-11-20T19:30:00Z'],
  ['Asia/Kolkata', '2026-11-20T14:30:15', '2026-11-20T09:00:15Z'],
  ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30:00Z'], // clocks show it twice: the first
  ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30:00Z'], // clocks skip it
])('in %s, %s is %s', (zone, text, at) => {
  expect(new Date(momentOf(zone, text)).toISOString()).toBe(at.replace('Z', '.000Z'));
});
