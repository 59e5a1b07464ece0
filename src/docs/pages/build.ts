import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Guide, readGuides } from './guides.ts';
import { assetHeaders } from './headers.ts';
import { guidePage, referencePage, topicsPage, type Versions } from './layout.ts';
import { guideRenderer } from './markdown.ts';
import type { ApiDocument } from './reference/document.ts';
import { detailsOf, referenceMarkdown } from './reference/markdown.ts';
import { guideTopics, referenceTopics, searchIndex } from './topics.ts';

/** They are almost half of MiniSearch's module. */
const docComments = /^ *\/\*\*[\s\S]*?\*\/\n/gm;

const packages = join(import.meta.dirname, '../../../node_modules');

/**
 * Writes the pages of `/docs` and the headers of all assets into `dist`, where `openapi.json` is.
 *
 * @throws Error for a malformed guide
 */
export async function buildDocs(dist: string): Promise<void> {
  const folder = join(dist, 'docs');
  mkdirSync(join(folder, 'providers'), { recursive: true });
  cpSync(join(import.meta.dirname, '../assets'), folder, { recursive: true });
  const minisearch = readFileSync(join(packages, 'minisearch/dist/es/index.js'), 'utf8');
  writeFileSync(join(folder, 'minisearch.js'), minisearch.replace(docComments, ''));
  writeFileSync(join(dist, '_headers'), assetHeaders());

  const guides = readGuides();
  const render = await guideRenderer();
  const rendered = guides.map((guide) => ({ guide, content: render(guide.markdown) }));
  const api = JSON.parse(readFileSync(join(dist, 'openapi.json'), 'utf8')) as ApiDocument; // our own, just built
  const reference = render(referenceMarkdown(api));
  const topics = [
    ...rendered.flatMap(({ guide, content }) => guideTopics(guide, content)),
    ...referenceTopics(reference, detailsOf(api)),
  ];
  const index = searchIndex(topics);
  writeFileSync(join(folder, 'search.json'), index);

  const versions: Versions = {
    minisearch: versionOf('minisearch'),
    index: createHash('sha256').update(index).digest('hex').slice(0, 16),
  };
  for (const { guide, content } of rendered)
    writeFileSync(join(dist, fileOf(guide)), guidePage(guides, guide, content, versions));
  writeFileSync(join(folder, 'topics.html'), topicsPage(guides, topics, versions));
  writeFileSync(join(folder, 'reference.html'), referencePage(guides, reference, versions));
}

const fileOf = ({ path }: Guide): string => `docs${path && `/${path}`}.html`;

function versionOf(name: string): string {
  const manifest = readFileSync(join(packages, name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version; // npm's own file
}
