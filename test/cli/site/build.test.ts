import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { buildSite } from '../../../src/cli/site/build.ts';

it('a rebuild replaces all files, and leaves nothing beside them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const site = join(folder, 'dist');
  mkdirSync(site);
  writeFileSync(join(site, 'gone.html'), 'a guide that was deleted');
  await buildSite(site);
  expect(existsSync(join(site, 'gone.html'))).toBe(false);
  expect(existsSync(join(site, 'docs/quick-start.html'))).toBe(true);
  expect(readdirSync(folder)).toEqual(['dist']);
});
