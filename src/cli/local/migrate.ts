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
 * Applies the migrations that the local databases in the folder `state` lack: that of main, and those of `homes`. Wrangler
 * would start a runtime for each of them, which takes a second a piece: this starts one, and none if a new database can
 * be a copy of an empty one.
 *
 * @throws Error with what went wrong
 */
export async function migrate(state: string, homes: string[] = []): Promise<void> {
  if (!existsSync(state)) return cpSync(await emptyState(homes), state, { recursive: true });
  const doneFile = join(state, 'migrated');
  const wanted = versionOf(homes);
  if (existsSync(doneFile) && readFileSync(doneFile, 'utf8') === wanted) return;
  const { ok, text } = await runBesideWrangler(join(import.meta.dirname, 'apply-migrations.ts'), [
    state,
    ...homes,
  ]);
  if (!ok) throw new Error(`Migrations failed:\n${text}`);
  writeFileSync(doneFile, wanted);
}

/** Returns a folder with empty databases that have all migrations, which it makes when there is none. */
export async function emptyState(homes: string[] = []): Promise<string> {
  const kept = join(localDirectory, 'empty', versionOf(homes));
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

/** Changes with the migrations, and with the homes. */
function versionOf(homes: string[]): string {
  const folder = join(root, 'migrations');
  const hash = createHash('sha256').update(homes.join());
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}
