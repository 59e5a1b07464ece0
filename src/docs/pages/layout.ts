import type { Guide } from './guides.ts';
import type { Rendered } from './markdown.ts';

/** A guide's whole page. `guides` are all of them, for the menu. */
export const guidePage = (guides: Guide[], guide: Guide, { html, sections }: Rendered): string =>
  page(
    guide.title,
    ['/portal/pico.min.css', '/docs/docs.css'],
    `<div class="container docs">
<nav aria-label="Guides">
<ul>
${guides.map((other) => menuItem(other, other === guide, sections)).join('\n')}
<li><a href="/docs/reference">API reference</a></li>
</ul>
</nav>
<main>
${html}${following(guides, guide)}
</main>
</div>
<script src="/docs/docs.js" defer></script>`,
  );

/** The page of the API reference. Scalar draws it, in styles of its own, from `/openapi.json`; `version` is Scalar's. */
export const referencePage = (version: string): string =>
  page(
    'API reference',
    ['/docs/reference.css'],
    `<main>
<noscript><p class="container">The reference needs JavaScript. The document behind it is at
<a href="/openapi.json">/openapi.json</a>.</p></noscript>
<div id="reference"></div>
</main>
<script src="/docs/standalone.js?v=${version}" defer></script>
<script src="/docs/reference.js" defer></script>`,
  );

const page = (title: string, styles: string[], body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Fleet Data Service</title>
<link rel="icon" href="data:,">
${styles.map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
</head>
<body>
<header class="container">
<nav aria-label="Main">
<ul><li><a href="/docs"><strong>Fleet Data Service</strong></a></li></ul>
<ul>
<li><a href="/docs/quick-start">Guides</a></li>
<li><a href="/docs/reference">API reference</a></li>
<li><a href="/portal">Portal</a></li>
</ul>
</nav>
</header>
${body}
</body>
</html>
`;

const hrefOf = ({ path }: Guide): string => (path ? `/docs/${path}` : '/docs');

function menuItem(guide: Guide, current: boolean, sections: Rendered['sections']): string {
  if (!current) return `<li><a href="${hrefOf(guide)}">${escaped(guide.title)}</a></li>`;
  const inside = sections
    .map(({ id, title }) => `<li><a href="#${id}">${escaped(title)}</a></li>`)
    .join('\n');
  const list = inside && `\n<ul>\n${inside}\n</ul>\n`;
  return `<li><a href="${hrefOf(guide)}" aria-current="page">${escaped(guide.title)}</a>${list}</li>`;
}

function following(guides: Guide[], guide: Guide): string {
  const next = guides[guides.indexOf(guide) + 1];
  return next ? `<p class="next">Next: <a href="${hrefOf(next)}">${escaped(next.title)}</a></p>` : '';
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
