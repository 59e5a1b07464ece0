// More than 15 s: axe tries each guide in light and dark.
import { guidePaths } from '#src/docs/pages/guides.ts';
import { openBrowser } from '#test/support/node/browser.ts';
import { expectGoodPages } from '#test/support/node/page-rules.ts';

const { stack, context } = await openBrowser();

it('each guide passes axe in light and dark, and is no wider than the smallest phone', async () => {
  const page = await context.newPage();
  const open = async (path: string) => {
    await page.goto(stack.baseUrl + path);
    await page.evaluate('document.fonts.ready');
  };
  const guides = guidePaths.map((path) => `/docs/${path}`);
  await expectGoodPages(page, guides, open, { widths: [320] });
});
