import { type Guide, guideGroups, hrefOf } from './guides.ts';
import type { Heading, Rendered } from './markdown.ts';

/** A guide's whole page. `guides` are all of them, for the menu. */
export const guidePage = (
  guides: Guide[],
  guide: Guide,
  { html, headings }: Rendered,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(guide.title)} · Fleet Data Service</title>
<link rel="icon" href="/design/mark.svg">
<link rel="preload" href="/design/geist.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="/design/docs.css">
<script src="/docs/search.js" type="module"></script>
</head>
<body class="docs">
<a class="skip" href="#content">Skip to content</a>
${header(guide)}
<div class="docs-body">
${menu(guides, guide)}
${onThisPage(headings)}<main class="docs-page" id="content">
<article class="prose">
${html}</article>
${following(guides, guide)}
</main>
</div>
<script src="/docs/docs.js" type="module"></script>${guide.path === 'reference' ? tryOut : ''}
</body>
</html>
`;

const tryOut = '\n<script src="/docs/try.js" type="module"></script>';

const header = ({ path }: Guide): string => `<header class="docs-head">
<a class="brand" href="/docs">${mark}<span>Fleet Data Service<small>Documentation</small></span></a>
<search class="docs-search">
<div class="search-field">${icon('search')}<noscript>Search needs JavaScript</noscript></div>
</search>
<nav class="docs-links" aria-label="Main">
<ul>
<li><a href="/docs"${path === 'reference' ? '' : ' aria-current="true"'}>Guides</a></li>
<li><a href="/docs/reference"${current(path === 'reference')}>API reference</a></li>
<li><a href="/portal">Portal</a></li>
</ul>
</nav>
<button class="btn btn-ghost" type="button" popovertarget="nav">${icon('menu')}Menu</button>
</header>`;

/** The menu: beside the page, or on a phone a drawer, which needs no script and closes with Esc. */
const menu = (
  guides: Guide[],
  guide: Guide,
): string => `<nav class="nav" id="nav" popover="auto" aria-label="Documentation">
${guideGroups.map(({ heading, paths }) => menuGroup(heading, paths, guides, guide)).join('\n')}
<div><h2>API</h2>
<ul>
<li><a href="/docs/reference"${current(guide.path === 'reference')}>API reference</a></li>
<li class="docs-portal"><a href="/portal">Portal</a></li>
</ul></div>
</nav>`;

function menuGroup(heading: string, paths: string[], guides: Guide[], shown: Guide): string {
  const links = guides
    .filter((guide) => paths.includes(guide.path))
    .map(
      (guide) =>
        `<li><a href="${hrefOf(guide)}"${current(guide === shown)}>${escaped(guide.title)}</a></li>`,
    );
  return `<div><h2>${heading}</h2>\n<ul>\n${links.join('\n')}\n</ul></div>`;
}

/** The contents of a long page: beside it on a wide screen, above it on others. */
function onThisPage(headings: Heading[]): string {
  const inside = headings.filter(({ tag }) => tag === 'h2' || tag === 'h3');
  if (inside.length < 3) return '';
  const links = inside.map(
    ({ tag, id, title }) => `<li class="${tag}"><a href="#${id}">${escaped(title)}</a></li>`,
  );
  return `<nav class="on-page" aria-label="On this page">
<details>
<summary>On this page</summary>
<ul>
${links.join('\n')}
</ul>
</details>
</nav>
`;
}

function following(guides: Guide[], guide: Guide): string {
  const next = guides[guides.indexOf(guide) + 1];
  return next
    ? `<p class="next">Next: <a href="${hrefOf(next)}">${escaped(next.title)}</a></p>`
    : '';
}

const current = (here: boolean): string => (here ? ' aria-current="page"' : '');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const icons = {
  menu: '<path d="M4 5h16M4 12h16M4 19h16"/>',
  search: '<path d="m21 21-4.34-4.34"/><circle cx="11" cy="11" r="8"/>',
};

const icon = (name: keyof typeof icons): string =>
  `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${icons[name]}</svg>`;

/** The mark in the page's colours; `mark.svg` is the same for browser tabs. */
const mark =
  '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="currentColor"/>' +
  '<path class="bars" d="m4.6 24.5 2.5-7h4.4L9 24.5zM11 24.5l4.3-12.3h4.4l-4.3 12.3zM17.4 24.5l6-17h4.4l-6 17z"/></svg>';
