import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../project/paths.ts';
import { runBesideWrangler } from '../project/wrangler.ts';

/**
 * Applies the migrations that the local database in `state` lacks. Wrangler would start a runtime for each of them,
 * which takes a second a piece; this starts one, and none when there is nothing to do.
 *
 * @throws Error with what went wrong
 */
export async function migrate(state: string): Promise<void> {
  const names = readdirSync(join(root, 'migrations')).sort().join('\n');
  const doneFile = join(state, 'migrated');
  if (existsSync(doneFile) && readFileSync(doneFile, 'utf8') === names) return;
  mkdirSync(state, { recursive: true });
  const { ok, text } = await runBesideWrangler(join(import.meta.dirname, 'apply-migrations.ts'), [state]);
  if (!ok) throw new Error(`Migrations failed:\n${text}`);
  writeFileSync(doneFile, names);
}
