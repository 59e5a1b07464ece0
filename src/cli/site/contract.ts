import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, siteDirectory } from '../project/paths.ts';

/**
 * `npm run contract`: publishes the API documents in `dist/`, which later ones will be compared with. Refuses a
 * change that would break clients of the published ones, unless the API version is new.
 */
const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js');
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

for (const name of ['openapi.json', 'openapi.operator.json']) {
  const published = join(root, 'src/docs/openapi/published', name);
  const built = join(siteDirectory, name);
  const failOn = versionOf(published) === versionOf(built) ? 'major' : 'none';
  const args = [redocly, 'diff', published, built, '--fail-on', failOn];
  if (spawnSync(process.execPath, args, { stdio: 'inherit', env }).status !== 0) {
    console.error(
      `contract: ${name} breaks existing clients. Undo that change, or give the API a new version.`,
    );
    process.exit(1);
  }
  copyFileSync(built, published);
}

function versionOf(file: string): string {
  return JSON.parse(readFileSync(file, 'utf8')).info.version;
}
