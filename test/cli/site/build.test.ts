import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSite } from '#src/cli/site/build.ts';
import { temporaryFolder } from '#test/support/node/index.ts';

it('a rebuild replaces all files, and leaves nothing beside them', {
  tags: ['proof'],
}, async () => {
  const folder = temporaryFolder();
  const site = join(folder, 'dist');
  mkdirSync(site);
  writeFileSync(join(site, 'gone.html'), 'a guide that was deleted');
  await buildSite(site);
  expect(existsSync(join(site, 'gone.html'))).toBe(false);
  expect(existsSync(join(site, 'docs/quick-start.html'))).toBe(true);
  expect(readdirSync(folder)).toEqual(['dist']);
});
