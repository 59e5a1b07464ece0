import menu from 'lucide-static/dist/esm/icons/menu.mjs';
import search from 'lucide-static/dist/esm/icons/search.mjs';

const icons = { menu, search };

/** One of Lucide's icons beside a word: it says nothing that the word does not. */
export const icon = (name: keyof typeof icons): string =>
  `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${shapesOf(icons[name])}</svg>`;

const shapesOf = (svg: string): string =>
  svg.replace(/^[\s\S]*?<svg[^>]*>|<\/svg>\s*$/g, '').replaceAll(/\s*\n\s*/g, '');

/** The service's mark, in the colours of the page. `src/portal/design/mark.svg` is the same for browser tabs. */
export const mark =
  '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="currentColor"/>' +
  '<path class="bars" d="m4.6 24.5 2.5-7h4.4L9 24.5zM11 24.5l4.3-12.3h4.4l-4.3 12.3zM17.4 24.5l6-17h4.4l-6 17z"/></svg>';
