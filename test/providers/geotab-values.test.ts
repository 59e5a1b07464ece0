import { describe, expect, it } from 'vitest';
import { nextTry } from '../../src/providers/geotab/exceptions.ts';
import { reference, timeAt } from '../../src/providers/geotab/records.ts';

describe('what Geotab writes', () => {
  it.each([
    ['b3', 'b3'],
    [{ id: 'NoDriverId' }, null],
    ['RuleSeatbeltId', 'RuleSeatbeltId'],
    ['Norbert', 'Norbert'],
    [{}, null],
  ])('refers by %j to %j', (driver, id) => {
    expect(reference({ driver }, 'driver')).toBe(id);
  });

  it.each([
    ['2026-11-19T14:05:10.000Z', '2026-11-19T14:05:10.000Z'],
    ['2050-01-01T00:00:00.000Z', null],
    ['0001-01-01T00:00:00.000Z', null],
    ['yesterday', 'yesterday'], // is refused, with a reason
    [undefined, null],
  ])('means by the time %j the time %j', (stop, time) => {
    expect(timeAt({ stop }, 'stop')).toBe(time);
  });
});

describe('a place that is still to come', () => {
  it('is looked for after 1, 2, 4 minutes and so on, for an hour', () => {
    const tries: number[] = [];
    for (let at = nextTry(0, 0); at !== undefined; at = nextTry(0, at)) tries.push(at / 60_000);
    expect(tries).toEqual([1, 2, 4, 8, 16, 32, 60]);
  });
});
