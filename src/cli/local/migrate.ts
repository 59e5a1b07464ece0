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
import { runBesideWrangler } from '../project/wrangler.ts';

/**
 * Applies the migrations that the local databases in the folder `state` lack: that of main, and those of `homes`.
 * Wrangler would start a runtime for each, which takes a second; this starts one, and none if a new database can be a
 * copy of an empty one.
 *
 * @throws Error, with what went wrong, or that the data is from other migrations
 */
export async function migrate(state: string, homes: string[] = []): Promise<void> {
  if (!existsSync(state)) return cpSync(await emptyState(homes), state, { recursive: true });
  const doneFile = join(state, 'migrated');
  const wanted = linesOf(homes);
  const done = existsSync(doneFile) ? readFileSync(doneFile, 'utf8').split('\n') : [];
  if (done.join() === wanted.join()) return;
  if (done.some((line) => !line.startsWith('home ') && !wanted.includes(line)))
    throw new Error(
      'The data of earlier runs is from another version of the service, which stored it differently. ' +
        'Delete it by starting with --fresh: npm start -- --fresh',
    );
  const { ok, text } = await runBesideWrangler(join(import.meta.dirname, 'apply-migrations.ts'), [
    state,
    ...homes,
  ]);
  if (!ok) throw new Error(`Migrations failed:\n${text}`);
  writeFileSync(doneFile, wanted.join('\n'));
}

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
  const folder = join(root, 'migrations');
  const names = readdirSync(folder).sort();
  return [
    ...names.map((name) => `${name} ${sha256(readFileSync(join(folder, name)))}`),
    ...homes.map((home) => `home ${home}`),
  ];
}

const sha256 = (data: string | Buffer): string =>
  createHash('sha256').update(data).digest('hex').slice(0, 16);
