import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { buildDocs } from '../../docs/pages/build.ts';
import { root, siteDirectory } from '../project/paths.ts';
import { buildDesign } from './design.ts';
import { buildMap } from './map.ts';

/**
 * Updates `directory` from the sources. Builds beside it and then moves changed files one by one, so that readers find
 * every page, old or new.
 */
export async function updateSite(directory: string): Promise<void> {
  const fresh = mkdtempSync(`${directory}.`);
  try {
    await buildSite(fresh);
    const files = filesIn(fresh);
    for (const file of files) replace(join(directory, file), join(fresh, file));
    if (existsSync(directory))
      for (const file of filesIn(directory)) if (!files.includes(file)) rmSync(join(directory, file));
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

/** Builds all files that Cloudflare serves without the Worker, into the empty folder `directory`. */
export async function buildSite(directory: string): Promise<void> {
  cpSync(join(root, 'src/portal/assets'), join(directory, 'portal'), { recursive: true });
  await buildDesign(join(directory, 'design'));
  buildMap(join(directory, 'portal/map'));
  buildDocuments(directory);
  await buildDocs(directory);
}

/**
 * Builds the API's documents. A separate program prints them, because they come from Worker code, which is a project of
 * its own.
 */
export function buildDocuments(directory: string): void {
  const program = join(root, 'src/docs/openapi/print.ts');
  const options = { encoding: 'utf8', maxBuffer: 2 ** 25 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], options);
  if (status !== 0) throw new Error(`Cannot build the API documents:\n${stderr}`);
  mkdirSync(directory, { recursive: true });
  for (const [path, document] of Object.entries<object>(JSON.parse(stdout)))
    writeFileSync(join(directory, path), `${JSON.stringify(document, null, 2)}\n`);
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

function replace(file: string, fresh: string): void {
  if (existsSync(file) && readFileSync(file).equals(readFileSync(fresh))) return;
  mkdirSync(dirname(file), { recursive: true });
  renameSync(fresh, file);
}

if (import.meta.main) await updateSite(siteDirectory); // `npm run assets`
