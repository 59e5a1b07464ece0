import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { keepMissing } from '../../../src/cli/deploy/keys.ts';
import { planOf } from '../../../src/cli/deploy/plan.ts';
import { temporaryFolder } from '../../support/node/folder.ts';

afterEach(() => vi.unstubAllEnvs());

const cell = { name: 'fleet-eu', cell: 'eu', domain: 'api.example.com' };

it.each([
  ['in CI, where they would be lost with the machine', 'true', {}, {}, /Deploy once from your own machine/],
  [
    'for a database that was sealed with others',
    ...['', {}, { database: { id: 'd' } }],
    /Put its HEADER_KEYS into .*header\.keys/,
  ],
  [
    'for a second cell',
    ...['', cell, {}],
    /Cells share their HEADER_KEYS.*Put those of the cell main into .*header\.keys/,
  ],
] as const)('new HEADER_KEYS are not made %s', (_, CI, settings, found, remedy) => {
  vi.stubEnv('CI', CI);
  const folder = join(temporaryFolder(), 'deployment');
  const contents = { database: undefined, secrets: ['OPERATOR_KEY'], ...found };
  expect(() => keepMissing(folder, planOf(settings), contents)).toThrow(remedy);
  expect(existsSync(folder)).toBe(false);
});
