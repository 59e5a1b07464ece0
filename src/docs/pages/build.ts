import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Guide, readGuides } from './guides.ts';
import { assetHeaders } from './headers.ts';
import { guidePage } from './layout.ts';
import { guideRenderer, type Rendered } from './markdown.ts';
import type { ApiDocument } from './reference/document.ts';
import { referenceMarkdown } from './reference/markdown.ts';
import { searchIndex, topicsOf } from './topics.ts';

/** They are almost half of MiniSearch's module. */
const docComments = /^ *\/\*\*[\s\S]*?\*\/\n/gm;

const searchProgram = join(import.meta.dirname, '../../../node_modules/minisearch/dist/es/index.js');

/**
 * Writes the pages of `/docs` and the headers of all assets into `dist`, where `openapi.json` is.
 *
 * @throws Error, for a malformed guide
 */
export async function buildDocs(dist: string): Promise<void> {
  const folder = join(dist, 'docs');
  for (const part of ['providers', 'operating']) mkdirSync(join(folder, part), { recursive: true });
  cpSync(join(import.meta.dirname, '../assets'), folder, { recursive: true });
  const minisearch = readFileSync(searchProgram, 'utf8');
  writeFileSync(join(folder, 'minisearch.js'), minisearch.replace(docComments, ''));
  writeFileSync(join(dist, '_headers'), assetHeaders());

  const api = JSON.parse(readFileSync(join(dist, 'openapi.json'), 'utf8')) as ApiDocument; // our own, just built
  const reference = { path: 'reference', title: 'API reference', markdown: referenceMarkdown(api) };
  const guides = [...readGuides(), reference];
  const render = await guideRenderer();
  const rendered = guides.map((guide) => ({ guide, content: render(guide.markdown) }));
  const topics = rendered.flatMap(({ guide, content }) => topicsOf(guide, content));
  writeFileSync(join(folder, 'search.json'), searchIndex(topics));
  for (const { guide, content } of rendered) {
    writeFileSync(join(dist, fileOf(guide, 'html')), guidePage(guides, guide, content));
    writeFileSync(join(dist, fileOf(guide, 'md')), guide.markdown);
  }
  writeFileSync(join(dist, 'llms.txt'), programsIndex(rendered));
  cpSync(join(dist, 'openapi.json'), join(folder, 'fleet-data-service.openapi.json'));
}

const fileOf = ({ path }: Guide, type: 'html' | 'md'): string => `docs${path && `/${path}`}.${type}`;

/** The index for programs that read documentation, in the format of llmstxt.org. */
function programsIndex(rendered: { guide: Guide; content: Rendered }[]): string {
  const guides = rendered.map(
    ({ guide, content }) => `- [${guide.title}](/${fileOf(guide, 'md')}): ${content.headings[0]?.lead ?? ''}`,
  );
  return `# Fleet Data Service

> An HTTP API for fleet data, with webhooks that are called within seconds of harsh braking or a crash.

## Guides

${guides.join('\n')}

## API

- [OpenAPI document](/openapi.json): every operation, payload and message
`;
}
