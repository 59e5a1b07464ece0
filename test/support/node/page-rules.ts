import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Between two themes colours have too little contrast. */
const finishTransitions =
  'for (const one of document.getAnimations()) if (one.transitionProperty) one.finish()';

/** Themes differ in their colours alone. */
const contrast = "axe.run({ runOnly: ['color-contrast'] })";

/**
 * Expects each page, once opened, to have no fault that axe finds in light or dark on a phone, and to be no wider than
 * it, nor than those of the other `widths`.
 */
export async function expectGoodPages(
  page: Page,
  paths: string[],
  open: (path: string) => Promise<unknown>,
  { widths = [] }: { widths?: number[] } = {},
): Promise<void> {
  const before = page.viewportSize();
  for (const path of paths) {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 375, height: 700 });
    await open(path);
    await page.evaluate(axe); // by the debugger, for the page itself allows no such script
    for (const colorScheme of ['light', 'dark'] as const) {
      const where = `${path}, ${colorScheme}`;
      await page.emulateMedia({ colorScheme });
      for (const width of [...widths, 375]) {
        await page.setViewportSize({ width, height: 700 });
        expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(width);
      }
      await page.evaluate(finishTransitions);
      const { violations } = (await page.evaluate(colorScheme === 'light' ? 'axe.run()' : contrast)) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      expect(found, where).toEqual([]);
    }
  }
  if (before) await page.setViewportSize(before);
}
