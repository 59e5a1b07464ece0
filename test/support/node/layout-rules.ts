import type { Page } from 'playwright-core';

/** What is wrong with the layout of the page at its present width: nothing, in good order. */
export const layoutFaults = (page: Page): Promise<string[]> => page.evaluate(findFaults);

/** Runs in the page. */
function findFaults(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement;
  const page = scrollWidth > clientWidth ? [`the page is ${scrollWidth} px wide`] : [];
  for (const one of document.querySelectorAll('details')) one.open = true;

  const named = (one: Element) =>
    `${one.tagName.toLowerCase()}.${one.className}: ${(one.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 60)}`;
  /** Maps, drawings, what only screen readers see, and fields, which scroll by themselves. */
  const apart = '.map-box, svg, .sr-only, thead, input, select, textarea';
  /** Code, and what is copied as a whole. */
  const code = 'pre, .secret';
  const elements = [...document.body.querySelectorAll('*')].filter((one) => !one.closest(apart));

  /** Code scrolls by design; on a phone, whatever has a bar for it. */
  const mayScroll = (one: Element) => {
    const { overflowX } = getComputedStyle(one);
    const scrolls = overflowX === 'auto' || overflowX === 'scroll';
    return scrolls && (clientWidth < 768 || one.matches('pre'));
  };
  const crossing: Element[] = [];
  for (const one of elements.reverse()) {
    const isCrossed = one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1;
    if (isCrossed && !mayScroll(one) && !crossing.some((inner) => one.contains(inner)))
      crossing.push(one);
  }

  const broken: string[] = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (range.getClientRects().length < 2 || node.parentElement?.closest(`${apart}, ${code}`))
      continue;
    for (const { 0: word, index } of (node.nodeValue ?? '').matchAll(/[\p{L}\p{N}]+/gu)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (word.length <= 16 && lines.size > 1) broken.push(`${word} in ${node.nodeValue}`);
    }
  }
  return [
    ...page,
    ...crossing.map((one) => `crosses its edge: ${named(one)}`),
    ...broken.map((text) => `a word breaks: ${text}`),
  ];
}
