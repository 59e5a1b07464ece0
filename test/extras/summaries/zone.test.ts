import { daysUntil, nextAt } from '#src/extras/summaries/zone.ts';

const at = (text: string) => Date.parse(text);

it.each([
  ['UTC', '2026-11-20T06:59:00Z', '2026-11-20T07:00:00Z'],
  ['UTC', '2026-11-20T07:00:00Z', '2026-11-21T07:00:00Z'],
  ['America/Chicago', '2026-11-20T12:00:00Z', '2026-11-20T13:00:00Z'],
  ['America/Chicago', '2026-11-01T04:00:00Z', '2026-11-01T13:00:00Z'], // clocks go back that night
  ['Asia/Kathmandu', '2026-11-20T02:00:00Z', '2026-11-21T01:15:00Z'],
])('in %s, the next seven o’clock after %s is %s', (zone, now, next) => {
  expect(nextAt(zone, 7, at(now))).toBe(at(next));
});

it.each([
  [
    'UTC',
    '2026-11-20T07:00:00Z',
    ['2026-11-18T00:00:00Z', '2026-11-19T00:00:00Z', '2026-11-20T00:00:00Z'],
  ],
  [
    'America/Chicago',
    '2026-11-02T13:00:00Z',
    ['2026-10-31T05:00:00Z', '2026-11-01T05:00:00Z', '2026-11-02T06:00:00Z'],
  ],
])('in %s, the days until %s begin at %o', (zone, now, starts) => {
  expect(daysUntil(zone, 2, at(now)).map(({ start }) => start)).toEqual(starts.map(at));
});
