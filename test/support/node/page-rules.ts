import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Expects each page, once opened, to have no fault that axe finds in light or dark, and to be no wider than a phone. */
export async function expectGoodPages(
  page: Page,
  paths: string[],
  open: (path: string) => Promise<unknown>,
): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 375, height: 700 });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const path of paths) {
      await open(path);
      const where = `${path}, ${colorScheme}`;
      expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(375);
      await page.evaluate(axe); // by the debugger, for the page itself allows no such script
      const { violations } = (await page.evaluate('axe.run()')) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      expect(found, where).toEqual([]);
    }
  }
  if (before) await page.setViewportSize(before);
}
