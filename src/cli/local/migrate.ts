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
 * Applies the migrations that the local database in the folder `state` lacks. Wrangler would start a runtime for each
 * of them, which takes a second a piece: this starts one, and none if a new database can be a copy of an empty one.
 *
 * @throws Error with what went wrong
 */
export async function migrate(state: string): Promise<void> {
  if (!existsSync(state)) return cpSync(await emptyState(), state, { recursive: true });
  const doneFile = join(state, 'migrated');
  const wanted = versionOf();
  if (existsSync(doneFile) && readFileSync(doneFile, 'utf8') === wanted) return;
  const { ok, text } = await runBesideWrangler(join(import.meta.dirname, 'apply-migrations.ts'), [state]);
  if (!ok) throw new Error(`Migrations failed:\n${text}`);
  writeFileSync(doneFile, wanted);
}

/** Returns a folder with an empty database that has all migrations, which it makes when there is none. */
export async function emptyState(): Promise<string> {
  const kept = join(localDirectory, 'empty', versionOf());
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

/** Changes with the migrations. */
function versionOf(): string {
  const folder = join(root, 'migrations');
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}
