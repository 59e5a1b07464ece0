import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readGuides } from './guides.ts';
import { assetHeaders } from './headers.ts';
import { guidePage, referencePage } from './layout.ts';
import { guideRenderer } from './markdown.ts';

/** Writes the pages of `/docs` and the headers of all assets into `dist`. @throws Error for a malformed guide */
export async function buildDocs(dist: string): Promise<void> {
  const folder = join(dist, 'docs');
  mkdirSync(folder, { recursive: true });
  const guides = readGuides();
  const render = await guideRenderer();
  for (const guide of guides)
    writeFileSync(
      join(dist, `docs${guide.path && `/${guide.path}`}.html`),
      guidePage(guides, guide, render(guide.markdown)),
    );
  cpSync(join(import.meta.dirname, '../assets'), folder, { recursive: true });
  const { file, version } = scalar();
  cpSync(file, join(folder, 'standalone.js'));
  writeFileSync(join(folder, 'reference.html'), referencePage(version));
  writeFileSync(join(dist, '_headers'), assetHeaders());
}

/** Scalar's script for browsers, all in one, and its version. */
function scalar(): { file: string; version: string } {
  const folder = join(import.meta.dirname, '../../../node_modules/@scalar/api-reference');
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string }; // npm's own file
  return { file: join(folder, 'dist/browser/standalone.js'), version };
}
