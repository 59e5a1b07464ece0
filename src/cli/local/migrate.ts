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
import { localDirectory, root } from '../project/paths.ts';
import { runWrangler } from '../project/wrangler.ts';

const folder = join(root, 'migrations');

/**
 * Applies the migrations that the local database in the folder `state` lacks. A new folder becomes a copy of one with an
 * empty database, which is quicker.
 *
 * @throws Error, with what went wrong, or that the data is from other migrations
 */
export async function migrate(state: string): Promise<void> {
  if (!existsSync(state)) return cpSync(await emptyState(), state, { recursive: true });
  const doneFile = join(state, 'migrated');
  const wanted = linesOfMigrations();
  const done = existsSync(doneFile) ? readFileSync(doneFile, 'utf8').split('\n') : [];
  if (done.some((line) => !wanted.includes(line)))
    throw new Error(
      'The data of earlier runs is from another version of the service, which stored it differently. ' +
        'Delete it by starting with --fresh: npm start -- --fresh',
    );
  if (wanted.every((line) => done.includes(line))) return;
  const config = join(state, 'wrangler.toml');
  const toml = readFileSync(join(root, 'wrangler.toml'), 'utf8');
  writeFileSync(config, toml.replaceAll('"migrations"', `"${folder}"`));
  const at = ['--local', '--persist-to', state, '--config', config];
  const { ok, text } = await runWrangler(['d1', 'migrations', 'apply', 'DB', ...at]);
  if (!ok) throw new Error(`Migrations failed:\n${text}`);
  writeFileSync(doneFile, wanted.join('\n'));
}

/** A folder with an empty, migrated database, created if there is none. */
export async function emptyState(): Promise<string> {
  const version = sha256(linesOfMigrations().join('\n'));
  const kept = join(localDirectory, 'empty', version);
  if (existsSync(kept)) return kept;
  mkdirSync(join(localDirectory, 'empty'), { recursive: true });
  const fresh = mkdtempSync(`${kept}.`);
  await migrate(fresh);
  try {
    renameSync(fresh, kept);
  } catch (error) {
    rmSync(fresh, { recursive: true });
    if (!existsSync(kept)) throw error; // otherwise somebody else has made it meanwhile
  }
  return kept;
}

/** A line for each migration, which changes with its file. */
const linesOfMigrations = (): string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => `${name} ${sha256(readFileSync(join(folder, name)))}`);

const sha256 = (data: string | Buffer): string =>
  createHash('sha256').update(data).digest('hex').slice(0, 16);
