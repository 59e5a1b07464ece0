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
import { mainCell } from '../../core/platform/cells.ts';
import { localDirectory, root } from '../project/paths.ts';
import { wranglerOutput } from '../project/wrangler.ts';

const folder = join(root, 'migrations');

/** Applies what migrations a cell's local database lacks. @throws Error, for data of others */
export async function migrate(state: string, cell = mainCell): Promise<void> {
  if (existsSync(doneFile(state, cell))) return apply(state, cell);
  cpSync(await emptyState(cell), state, { recursive: true, force: false });
}

const doneFile = (state: string, cell: string): string =>
  join(state, cell === mainCell ? 'migrated' : `migrated-${cell}`);

async function apply(state: string, cell: string): Promise<void> {
  const { wanted, isOther, lacking } = compared(state, cell);
  if (isOther)
    throw new Error(
      'The data of earlier runs is from another version of the service, which stored it differently. ' +
        'Delete it by starting with --fresh: npm start -- --fresh',
    );
  if (lacking.length === 0) return;
  const config = join(state, 'wrangler.toml');
  const toml = readFileSync(join(root, 'wrangler.toml'), 'utf8');
  const own = cell === mainCell ? '' : `\ndatabase_id = "${cell}"`;
  writeFileSync(config, toml.replaceAll('"migrations"', `"${folder}"${own}`));
  const at = ['--local', '--persist-to', state, '--config', config];
  await wranglerOutput('d1', 'migrations', 'apply', 'DB', ...at);
  writeFileSync(doneFile(state, cell), wanted.join('\n'));
}

/** What to do about migrations that were added or changed since the start; undefined if there are none. */
export function whatToRestart(state: string): string | undefined {
  const { isOther, lacking } = compared(state, mainCell);
  const names = lacking.map((line) => line.split(' ')[0]).join(', ');
  if (isOther)
    return 'A migration that this data was stored with has changed. To delete the data: npm start -- --fresh';
  return lacking.length > 0 ? `The database lacks ${names}. Restart to migrate.` : undefined;
}

/** The migrations that there are, whether the database has others, and which ones it lacks. */
function compared(state: string, cell: string) {
  const wanted = linesOfMigrations();
  const file = doneFile(state, cell);
  const done = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const isOther = done.some((line) => !wanted.includes(line));
  return { wanted, isOther, lacking: wanted.filter((line) => !done.includes(line)) };
}

const emptyStates = join(localDirectory, 'empty');

/** A folder with an empty, migrated database of a cell, created if there is none. */
export async function emptyState(cell = mainCell): Promise<string> {
  const version = sha256(linesOfMigrations().join('\n'));
  const kept = join(emptyStates, cell === mainCell ? version : `${version}-${cell}`);
  if (existsSync(kept)) return kept;
  mkdirSync(emptyStates, { recursive: true });
  const fresh = mkdtempSync(`${kept}.`);
  await apply(fresh, cell);
  try {
    renameSync(fresh, kept);
  } catch (error) {
    rmSync(fresh, { recursive: true });
    if (!existsSync(kept)) throw error; // otherwise somebody else has made it meanwhile
  }
  return kept;
}

const linesOfMigrations = (): string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => `${name} ${sha256(readFileSync(join(folder, name)))}`);

const sha256 = (data: string | Buffer): string =>
  createHash('sha256').update(data).digest('hex').slice(0, 16);
