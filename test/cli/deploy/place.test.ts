import { describe, expect, it } from 'vitest';
import { placeBeside, placed, type Residency } from '../../../src/cli/deploy/place.ts';

describe('what is missing beside a database', () => {
  const inThe = (jurisdiction: string | null | undefined) => ({ id: '1', jurisdiction });

  it.each([
    ['that does not exist, goes to the given place', undefined, { location: 'weur' }, { location: 'weur' }],
    ['without a jurisdiction, needs none', inThe(null), {}, {}],
    ['in a jurisdiction, goes there as well', inThe('eu'), {}, { jurisdiction: 'eu' }],
    ['in the same jurisdiction, goes there', inThe('eu'), { jurisdiction: 'eu' }, { jurisdiction: 'eu' }],
    [
      'that Cloudflare does not place, goes to the given place',
      inThe(undefined),
      { jurisdiction: 'us' },
      { jurisdiction: 'us' },
    ],
  ] as const)('%s', (_, database, asked, place) => {
    expect(placeBeside(database, 'fleet', asked)).toEqual(place);
  });

  it.each([
    [null, 'without a jurisdiction'],
    ['eu', 'in the jurisdiction eu'],
  ])('is refused in another jurisdiction than %s', (jurisdiction, where) => {
    expect(() => placeBeside(inThe(jurisdiction), 'fleet', { jurisdiction: 'us' })).toThrow(
      `The database fleet already exists ${where}, and cannot move to us`,
    );
  });
});

it('a jurisdiction holds for everything, a location only for what can have one', () => {
  const parts = (place: Residency) => [placed(place, 'primary_location_hint'), placed(place)];
  expect(parts({})).toEqual([{}, {}]);
  expect(parts({ location: 'oc' })).toEqual([{ primary_location_hint: 'oc' }, {}]);
  expect(parts({ location: 'oc', jurisdiction: 'eu' })).toEqual(Array(2).fill({ jurisdiction: 'eu' }));
});
