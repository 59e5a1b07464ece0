import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '../../../src/cli/local/migrate.ts';
import { temporaryFolder } from '../../support/node/folder.ts';

it('local data of an older version is left alone, and how to delete it is said', async () => {
  const folder = temporaryFolder();
  const state = join(folder, 'state');
  await migrate(state);
  await expect(migrate(state)).resolves.toBeUndefined();
  writeFileSync(join(state, 'migrated'), '0001_core.sql 0123456789abcdef');
  await expect(migrate(state)).rejects.toThrow('npm start -- --fresh');
});
