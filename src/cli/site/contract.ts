import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, siteDirectory } from '../project/paths.ts';
import { breaksBetween } from './breaks.ts';
import { buildDocuments } from './build.ts';

/**
 * `npm run contract`: builds the API documents and publishes them, for comparison with later ones. Refuses a change
 * that would break clients, unless the API version is new.
 */
buildDocuments(siteDirectory);
for (const name of ['openapi.json', 'openapi.operator.json']) {
  const published = join(root, 'src/docs/openapi/published', name);
  const built = join(siteDirectory, name);
  const breaks = versionOf(published) === versionOf(built) ? breaksBetween(published, built) : [];
  if (breaks.length > 0) {
    console.error(
      `contract: ${name} breaks existing clients. Undo that change, or give the API a new version.`,
    );
    for (const line of breaks) console.error(`  ${line}`);
    process.exit(1);
  }
  copyFileSync(built, published);
}

function versionOf(file: string): string {
  return JSON.parse(readFileSync(file, 'utf8')).info.version;
}
