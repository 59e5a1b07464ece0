import { describe, expect, it } from 'vitest';
import { placeBeside, placeFlags } from '../../src/cli/deploy/place.ts';

describe('what is missing beside a database', () => {
  const inThe = (jurisdiction: string | null | undefined) => ({ id: '1', jurisdiction });

  it.each([
    ['that does not exist, goes where it is told to', undefined, { location: 'weur' }, { location: 'weur' }],
    ['without a jurisdiction, needs none', inThe(null), {}, {}],
    ['in a jurisdiction, goes there as well', inThe('eu'), {}, { jurisdiction: 'eu' }],
    ['in the same jurisdiction, goes there', inThe('eu'), { jurisdiction: 'eu' }, { jurisdiction: 'eu' }],
    [
      'that Cloudflare does not place, goes where it is told to',
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

it('a jurisdiction holds for everything, a location only for the database', () => {
  const flags = (place: Parameters<typeof placeFlags>[1]) =>
    (['database', 'namespace', 'queue'] as const).map((what) => placeFlags(what, place).join(' '));
  expect(flags({})).toEqual(['', '', '']);
  expect(flags({ location: 'oc' })).toEqual(['--location oc', '', '']);
  expect(flags({ location: 'oc', jurisdiction: 'eu' })).toEqual(Array(3).fill('--jurisdiction eu'));
});
