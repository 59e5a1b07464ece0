import { expect, it } from 'vitest';
import { furtherHomes } from '../../../src/cli/project/homes.ts';

it.each([
  ['main,EU', 'not "EU"'],
  ['main,eu,eu', 'The home eu is named twice'],
  ['main,', 'not ""'],
  ['eu,us2', 'main must be among them: main,eu,us2'],
])('%s are no homes to run', (list, reason) => {
  expect(() => furtherHomes(list)).toThrow(reason);
});
