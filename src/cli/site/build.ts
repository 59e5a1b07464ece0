import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocs } from '../../docs/pages/build.ts';
import { root, siteDirectory } from '../project/paths.ts';
import { runProgram } from '../project/programs.ts';
import { buildDesign } from './design.ts';
import { buildMap } from './map.ts';

/** Builds all files that Cloudflare serves without the Worker, and then replaces `directory`. */
export async function buildSite(directory: string): Promise<void> {
  const fresh = mkdtempSync(`${directory}.`);
  try {
    cpSync(join(root, 'src/portal/assets'), join(fresh, 'portal'), { recursive: true });
    await buildDesign(join(fresh, 'design'));
    buildMap(join(fresh, 'portal/map'));
    buildDocuments(fresh);
    await buildDocs(fresh);
    rmSync(directory, { recursive: true, force: true });
    renameSync(fresh, directory);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Builds the API's documents, by a program of their own: they come from Worker code. */
export function buildDocuments(directory: string): void {
  const stdout = runProgram('Building the API documents', 'src/docs/openapi/print.ts');
  mkdirSync(directory, { recursive: true });
  for (const [path, document] of Object.entries<object>(JSON.parse(stdout)))
    writeFileSync(join(directory, path), `${JSON.stringify(document, null, 2)}\n`);
}

if (import.meta.main) await buildSite(siteDirectory); // `npm run assets`
