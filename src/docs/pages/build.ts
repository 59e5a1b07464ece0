import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { type Guide, hrefOf, readGuides } from './guides.ts';
import { guidePage } from './layout.ts';
import { guideRenderer, type Rendered } from './markdown.ts';
import { type ApiDocument, referenceMarkdown } from './reference.ts';

/** They are almost half of MiniSearch's module. */
const docComments = /^ *\/\*\*[\s\S]*?\*\/\n/gm;

const searchProgram = join(
  import.meta.dirname,
  '../../../node_modules/minisearch/dist/es/index.js',
);

/** Writes `/docs` and the headers of all assets into `dist`, where `openapi.json` is. @throws Error */
export async function buildDocs(dist: string): Promise<void> {
  const folder = join(dist, 'docs');
  for (const part of ['providers', 'operating']) mkdirSync(join(folder, part), { recursive: true });
  cpSync(join(import.meta.dirname, '../assets'), folder, { recursive: true });
  const minisearch = readFileSync(searchProgram, 'utf8');
  writeFileSync(join(folder, 'minisearch.js'), minisearch.replace(docComments, ''));
  cpSync(join(import.meta.dirname, '_headers'), join(dist, '_headers'));

  const api = JSON.parse(readFileSync(join(dist, 'openapi.json'), 'utf8')) as ApiDocument; // our own, just built
  const reference = { path: 'reference', title: 'API reference', markdown: referenceMarkdown(api) };
  const guides = [...readGuides(), reference];
  const render = await guideRenderer();
  const rendered = guides.map((guide) => ({ guide, content: render(guide.markdown) }));
  writeFileSync(join(folder, 'search.json'), searchIndex(rendered));
  for (const { guide, content } of rendered) {
    writeFileSync(join(dist, fileOf(guide, 'html')), guidePage(guides, guide, content));
    writeFileSync(join(dist, fileOf(guide, 'md')), guide.markdown);
  }
  writeFileSync(join(dist, 'llms.txt'), programsIndex(rendered));
  cpSync(join(dist, 'openapi.json'), join(folder, 'fleet-data-service.openapi.json'));
}

const fileOf = ({ path }: Guide, type: 'html' | 'md'): string =>
  `docs${path && `/${path}`}.${type}`;

type Page = { guide: Guide; content: Rendered };

/** The index of all sections for `src/docs/assets/search.js`: MiniSearch's options, and its index. */
function searchIndex(pages: Page[]): string {
  const options = {
    fields: ['title', 'page', 'text'],
    storeFields: ['title', 'page', 'href', 'excerpt'],
  };
  const sections = pages.flatMap(({ guide, content }) =>
    content.headings.map(({ tag, id, title, lead, text }) => ({
      page: guide.title,
      title,
      href: tag === 'h1' ? hrefOf(guide) : `${hrefOf(guide)}#${id}`,
      excerpt: lead.length > 120 ? `${lead.slice(0, 120)}…` : lead,
      text,
    })),
  );
  const index = new MiniSearch(options);
  index.addAll(sections.map((section, id) => ({ id, ...section })));
  return JSON.stringify({ options, index });
}

/** A lead without a last sentence that only introduces what follows, unless it is alone. */
const summaryOf = (lead = ''): string => lead.replace(/(?<=[.?]) [^.?]*:$/, '').replace(/:$/, '.');

/** The index for programs that read documentation, in the format of llmstxt.org. */
function programsIndex(pages: Page[]): string {
  const guides = pages.map(
    ({ guide, content }) =>
      `- [${guide.title}](/${fileOf(guide, 'md')}): ${summaryOf(content.headings[0]?.lead)}`,
  );
  return `# Fleet Data Service

> An HTTP API for fleet data, with webhooks that are called within seconds of harsh braking or a crash.

## Guides

${guides.join('\n')}

## API

- [OpenAPI document](/openapi.json): every operation, payload and message
`;
}
