import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { readText } from './folder.ts';

const axe = readText(createRequire(import.meta.url).resolve('axe-core/axe.min.js'));

/** Between two themes colours have too little contrast. */
const finishTransitions =
  'for (const one of document.getAnimations()) if (one.transitionProperty) one.finish()';

/**
 * Expects each page to have no fault that axe finds on a phone, or in dark, `within` a part of it,
 * and to be no wider than a phone, nor than the other `widths`.
 */
export async function expectGoodPages(
  page: Page,
  paths: string[],
  open: (path: string) => Promise<unknown>,
  { widths = [], within }: { widths?: number[]; within?: string } = {},
): Promise<void> {
  const before = page.viewportSize();
  const expectNoFault = async (where: string, colorScheme: 'light' | 'dark', only: object = {}) => {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(finishTransitions);
    const options = JSON.stringify({ resultTypes: ['violations'], ...only });
    const { violations }: { violations: { id: string; nodes: { html: string }[] }[] } =
      await page.evaluate(`axe.run(${JSON.stringify(within)} ?? document, ${options})`);
    const found = violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
    expect(found, `${where}, ${colorScheme}`).toEqual([]);
  };
  for (const path of paths) {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 375, height: 700 });
    await open(path);
    await page.evaluate(axe); // by the debugger, for the page itself allows no such script
    for (const width of [...widths, 375]) {
      await page.setViewportSize({ width, height: 700 });
      const needed = await page.evaluate('document.documentElement.scrollWidth');
      expect(needed, path).toBeLessThanOrEqual(width);
    }
    await expectNoFault(path, 'light');
    await expectNoFault(path, 'dark', { runOnly: ['color-contrast'] }); // themes differ in their colours alone
  }
  if (before) await page.setViewportSize(before);
}
