import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Guide, readGuides } from './guides.ts';
import { assetHeaders } from './headers.ts';
import { guidePage, referencePage, topicsPage, type Versions } from './layout.ts';
import { guideRenderer } from './markdown.ts';
import { searchIndex } from './search.ts';
import { type ApiDocument, apiTopics, guideTopics } from './topics.ts';

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
  writeFileSync(join(folder, 'standalone.js'), scalar());
  const minisearch = readFileSync(join(packages, 'minisearch/dist/es/index.js'), 'utf8');
  writeFileSync(join(folder, 'minisearch.js'), minisearch.replace(docComments, ''));
  writeFileSync(join(dist, '_headers'), assetHeaders());

  const guides = readGuides();
  const render = await guideRenderer();
  const rendered = guides.map((guide) => ({ guide, content: render(guide.markdown) }));
  const api = JSON.parse(readFileSync(join(dist, 'openapi.json'), 'utf8')) as ApiDocument; // our own, just built
  const topics = [
    ...rendered.flatMap(({ guide, content }) => guideTopics(guide, content)),
    ...apiTopics(api),
  ];
  const index = searchIndex(topics);
  writeFileSync(join(folder, 'search.json'), index);

  const versions: Versions = {
    scalar: versionOf('@scalar/api-reference'),
    minisearch: versionOf('minisearch'),
    index: createHash('sha256').update(index).digest('hex').slice(0, 16),
  };
  for (const { guide, content } of rendered)
    writeFileSync(join(dist, fileOf(guide)), guidePage(guides, guide, content, versions));
  writeFileSync(join(folder, 'topics.html'), topicsPage(guides, topics, versions));
  writeFileSync(join(folder, 'reference.html'), referencePage(guides, versions));
}

/** Scalar's script, with a plain placeholder where a token is entered: it has a riddle there, and no option for it. */
function scalar(): string {
  const script = readFileSync(join(packages, '@scalar/api-reference/dist/browser/standalone.js'), 'utf8');
  const riddle = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT';
  if (!script.includes(riddle)) throw new Error('Scalar has another placeholder for tokens: look at it');
  return script.replaceAll(riddle, 'fds_…');
}

const fileOf = ({ path }: Guide): string => `docs${path && `/${path}`}.html`;

function versionOf(name: string): string {
  const manifest = readFileSync(join(packages, name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version; // npm's own file
}
