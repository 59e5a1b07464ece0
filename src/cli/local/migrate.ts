import { createHash } from 'node:crypto';
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
import { join } from 'node:path';
import { mainHome } from '../../platform/homes/names.ts';
import { bindingOf, withHomes } from '../project/homes.ts';
import { localDirectory, root } from '../project/paths.ts';
import { runWrangler } from '../project/wrangler.ts';

const folder = join(root, 'migrations');

/**
 * Applies the migrations that the local databases in the folder `state` lack: that of main, and those of `homes`. A new
 * folder becomes a copy of one with empty databases, which is quicker.
 *
 * @throws Error, with what went wrong, or that the data is from other migrations
 */
export async function migrate(state: string, homes: string[] = []): Promise<void> {
  if (!existsSync(state)) return cpSync(await emptyState(homes), state, { recursive: true });
  const doneFile = join(state, 'migrated');
  const wanted = linesOf(homes);
  const done = existsSync(doneFile) ? readFileSync(doneFile, 'utf8').split('\n') : [];
  if (done.some((line) => !isHome(line) && !wanted.includes(line)))
    throw new Error(
      'The data of earlier runs is from another version of the service, which stored it differently. ' +
        'Delete it by starting with --fresh: npm start -- --fresh',
    );
  const lacking = wanted.filter((line) => !done.includes(line));
  const config = join(state, 'wrangler.toml');
  const toml = withHomes(readFileSync(join(root, 'wrangler.toml'), 'utf8'), homes);
  writeFileSync(config, toml.replaceAll('"migrations"', `"${folder}"`));
  for (const line of (lacking.every(isHome) ? lacking : wanted).filter(isHome)) {
    const binding = bindingOf('DB', line.replace('home ', ''));
    const at = ['--local', '--persist-to', state, '--config', config];
    const { ok, text } = await runWrangler(['d1', 'migrations', 'apply', binding, ...at]);
    if (!ok) throw new Error(`Migrations failed:\n${text}`);
  }
  writeFileSync(doneFile, [...new Set([...wanted, ...done])].join('\n'));
}

const isHome = (line: string): boolean => line.startsWith('home ');

/** A folder with empty, migrated databases, created if there is none. */
export async function emptyState(homes: string[] = []): Promise<string> {
  const version = sha256(linesOf(homes).join('\n'));
  const kept = join(localDirectory, 'empty', version);
  if (existsSync(kept)) return kept;
  mkdirSync(join(localDirectory, 'empty'), { recursive: true });
  const fresh = mkdtempSync(`${kept}.`);
  await migrate(fresh, homes);
  try {
    renameSync(fresh, kept);
  } catch (error) {
    rmSync(fresh, { recursive: true });
    if (!existsSync(kept)) throw error; // otherwise somebody else has made it meanwhile
  }
  return kept;
}

/** A line for each migration, which changes with its file, and one for each home. */
function linesOf(homes: string[]): string[] {
  const names = readdirSync(folder).sort();
  return [
    ...names.map((name) => `${name} ${sha256(readFileSync(join(folder, name)))}`),
    ...[mainHome, ...homes].map((home) => `home ${home}`),
  ];
}

const sha256 = (data: string | Buffer): string =>
  createHash('sha256').update(data).digest('hex').slice(0, 16);
