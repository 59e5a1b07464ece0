import { expect, it } from 'vitest';
import { furtherHomes } from '../../../src/cli/project/homes.ts';

it('a list of homes has their names, main or not', () => {
  expect(furtherHomes('main,eu,us2')).toEqual(['eu', 'us2']);
  expect(() => furtherHomes('main,EU')).toThrow('not "EU"');
});
