import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { siteDirectory } from '../../../src/cli/project/paths.ts';
import { updateSite } from '../../../src/cli/site/build.ts';

const site = mkdtempSync(join(tmpdir(), 'fleet-site-'));
afterAll(() => rmSync(site, { recursive: true }));

it('a rebuild replaces what changed, removes what is gone, and leaves the rest alone', async () => {
  cpSync(siteDirectory, site, { recursive: true });
  const [guide, reference] = ['docs/quick-start.html', 'docs/reference.html'].map((file) => join(site, file));
  const built = readFileSync(String(guide), 'utf8');
  const untouched = statSync(String(reference)).mtimeMs;
  writeFileSync(String(guide), 'an older version');
  writeFileSync(join(site, 'docs/gone.html'), 'a guide that was deleted');

  let missing = 0;
  const watching = setInterval(() => {
    if (!existsSync(String(guide))) missing++;
  });
  await updateSite(site);
  clearInterval(watching);
  expect(missing).toBe(0);
  expect(readFileSync(String(guide), 'utf8')).toBe(built);
  expect(existsSync(join(site, 'docs/gone.html'))).toBe(false);
  expect(statSync(String(reference)).mtimeMs).toBe(untouched);
  const besides = readdirSync(dirname(site)).filter((name) => name.startsWith(`${basename(site)}.`));
  expect(besides).toEqual([]);
});
