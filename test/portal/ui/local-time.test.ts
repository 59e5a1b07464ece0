import fc from 'fast-check';
import { expect, it } from 'vitest';
import { localTime, momentOf } from '../../../src/portal/ui/local-time.ts';

it.each([
  ['UTC', '2026-11-20T14:30', '2026-11-20T14:30:00Z'],
  ['America/New_York', '2026-11-20T14:30', '2026-11-20T19:30:00Z'],
  ['Asia/Kolkata', '2026-11-20T14:30:15', '2026-11-20T09:00:15Z'],
  ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30:00Z'], // clocks show it twice: the first
  ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30:00Z'], // clocks skip it
])('in %s, %s is %s', (zone, text, at) => {
  expect(new Date(momentOf(zone, text)).toISOString()).toBe(at.replace('Z', '.000Z'));
});

it('what clocks show leads back to the moment, or to the same time an hour before', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const minutes = fc.integer({ min: 20_000_000, max: 35_000_000 });
  fc.assert(
    fc.property(fc.constantFrom(...zones), minutes, (zone, minute) => {
      const at = minute * 60_000;
      const found = momentOf(zone, localTime(zone, at));
      expect(found).toBeLessThanOrEqual(at);
      expect(localTime(zone, found)).toBe(localTime(zone, at));
    }),
  );
});
