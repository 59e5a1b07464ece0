import { expect, it } from 'vitest';
import { joinedFields, usablePlace, usableVin } from '../../src/providers/read.ts';

it.each([
  [{ first: ' Ann ', last: 'Smith' }, 'Ann Smith'],
  [{ first: { nested: 1 }, last: 'Smith' }, 'Smith'],
  [{ first: 7, last: ' ' }, 7], // is mended, or dropped with a warning
  [{ first: '', last: null }, null],
])('reads the name in %j as %j', (item, name) => {
  expect(joinedFields(item, 'first', 'last')).toBe(name);
});

it.each([
  [['?', '1FTBW3XM5KKA12345'], '1FTBW3XM5KKA12345'],
  [['UNKNOWN', '1FTBW3XM5KKA12345'], '1FTBW3XM5KKA12345'],
  [['V'.repeat(41), '1FTBW3XM5KKA12345'], '1FTBW3XM5KKA12345'],
  [['V'.repeat(41), null], 'V'.repeat(41)], // is dropped, with a warning
  [[null, null], null],
])('of the VINs %j takes %j', (vins, vin) => {
  expect(usableVin(...vins)).toBe(vin);
});

it('takes the first place that can be one', () => {
  const [good, bad] = [
    { latitude: 39, longitude: -105 },
    { latitude: 91, longitude: 0 },
  ];
  expect([usablePlace(bad, good), usablePlace(good, bad), usablePlace(bad, null)]).toEqual([good, good, bad]);
});
