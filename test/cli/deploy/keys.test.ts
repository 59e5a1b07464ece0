import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepMissing, remindToStore } from '#src/cli/deploy/keys.ts';
import { planOf } from '#src/cli/deploy/plan.ts';
import { temporaryFolder } from '#test/support/node/index.ts';

beforeEach(() => vi.stubEnv('CI', ''));

const cell = { name: 'fleet-eu', cell: 'eu', domain: 'api.example.com' };

it.each([
  ['in CI, where they would be lost with the machine', 'true', {}, {}, /from your own machine/],
  [
    'for a database that was sealed with others',
    '',
    {},
    { database: { id: 'd' } },
    /Put its ENCRYPTION_KEYS into .*encryption\.keys/,
  ],
  ['for a second cell', '', cell, {}, /Put those of the cell main into .*encryption\.keys/],
] as const)('new ENCRYPTION_KEYS are not made %s', (_, CI, settings, found, remedy) => {
  vi.stubEnv('CI', CI);
  const folder = join(temporaryFolder(), 'deployment');
  const contents = { database: undefined, secrets: ['OPERATOR_KEY'], ...found };
  expect(() => keepMissing(folder, planOf(settings), contents)).toThrow(remedy);
  expect(existsSync(folder)).toBe(false);
});

it('says where keys are until it has said so, and again once they have changed', () => {
  const folder = temporaryFolder();
  const printed = vi.fn();
  keepMissing(folder, planOf({}), { database: undefined, secrets: ['ENCRYPTION_KEYS'] });
  const failing = () => {
    throw new Error('the terminal is gone');
  };
  expect(() => remindToStore(folder, failing)).toThrow();
  for (let deploy = 0; deploy < 2; deploy++) remindToStore(folder, printed);
  expect(printed.mock.calls).toEqual([
    [expect.stringMatching(/\n +\S+operator\.key {2}OPERATOR_KEY\n$/)],
  ]);
  const headers = join(folder, 'encryption.keys');
  writeFileSync(headers, 'k1:…');
  utimesSync(headers, new Date(), new Date(Date.now() + 1000));
  remindToStore(folder, printed);
  expect(printed.mock.lastCall).toEqual([
    expect.stringMatching(/again:\n +\S+encryption\.keys {2}ENCRYPTION_KEYS\n$/),
  ]);
});
