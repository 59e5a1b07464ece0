import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { siteDirectory as site } from '../../../src/cli/project/paths.ts';
import { updateSite } from '../../../src/cli/site/build.ts';
import { sharedStack } from '../../support/node/journey.ts';

it('a rebuild replaces what changed, removes what is gone, and leaves the rest alone, services that run included', async () => {
  const { baseUrl } = await sharedStack();
  const [guide, reference] = ['docs/quick-start.html', 'docs/reference.html'].map((file) => join(site, file));
  const built = readFileSync(String(guide), 'utf8');
  const untouched = statSync(String(reference)).mtimeMs;
  writeFileSync(String(guide), 'an older version');
  writeFileSync(join(site, 'docs/gone.html'), 'a guide that was deleted');

  let missing = 0;
  const watching = setInterval(() => {
    if (!existsSync(String(guide))) missing++;
  });
  let running = true;
  const reader = (async () => {
    const served = new Set<string>();
    for (; running; await wait(50)) served.add(await (await fetch(`${baseUrl}/docs/quick-start`)).text());
    return [...served];
  })();
  await updateSite(site);
  clearInterval(watching);
  running = false;
  expect(await reader).toEqual([built]);
  expect(missing).toBe(0);
  expect(readFileSync(String(guide), 'utf8')).toBe(built);
  expect(existsSync(join(site, 'docs/gone.html'))).toBe(false);
  expect(statSync(String(reference)).mtimeMs).toBe(untouched);
  const besides = readdirSync(dirname(site)).filter((name) => name.startsWith(`${basename(site)}.`));
  expect(besides).toEqual([]);
});
