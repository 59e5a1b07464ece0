import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate, whatToRestart } from '#src/cli/local/migrate.ts';
import { readText, temporaryFolder } from '#test/support/node/index.ts';

it('local data of an older version is left alone, and how to delete it is said', async () => {
  const folder = temporaryFolder();
  const state = join(folder, 'state');
  await migrate(state);
  await expect(migrate(state)).resolves.toBeUndefined();
  writeFileSync(join(state, 'migrated'), '0001_core.sql 0123456789abcdef');
  await expect(migrate(state)).rejects.toThrow('npm start -- --fresh');
});

it('what was migrated since the start is compared with the files', async () => {
  const state = join(temporaryFolder(), 'state');
  await migrate(state);
  expect(whatToRestart(state)).toBeUndefined();
  const [first = '', ...others] = readText(state, 'migrated').split('\n');
  writeFileSync(join(state, 'migrated'), others.join('\n'));
  expect(whatToRestart(state)).toBe('The database lacks 0001_core.sql. Restart to migrate.');
  writeFileSync(join(state, 'migrated'), [first, '0002_other.sql 0123', ...others].join('\n'));
  expect(whatToRestart(state)).toContain('npm start -- --fresh');
});
