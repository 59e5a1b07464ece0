import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localDirectory, root } from '../project/paths.ts';
import { runProgram } from '../project/programs.ts';
import { buildDocuments } from '../site/build.ts';

export const clientDirectory = join(localDirectory, 'client');

/** Builds the typed client: what Redocly generates from the documents, behind `index.ts`. */
export function buildClient(): void {
  const sources = join(clientDirectory, 'src');
  rmSync(clientDirectory, { recursive: true, force: true });
  mkdirSync(sources, { recursive: true });
  buildDocuments(sources);
  for (const name of ['index.ts', 'redocly.yaml'])
    copyFileSync(join(import.meta.dirname, name), join(sources, name));
  const run = (program: string, ...args: string[]) =>
    runProgram('Building the client', `node_modules/${program}`, ...args);
  run('@redocly/cli/bin/cli.js', 'generate-client', '--config', join(sources, 'redocly.yaml'));
  run(
    ...[
      'typescript/bin/tsc',
      join(sources, 'index.ts'),
      '--ignoreConfig',
      '--strict',
      '--skipLibCheck',
    ],
    ...['--target', 'es2024', '--lib', 'es2024,dom', '--types', '', '--module', 'nodenext'],
    ...['--declaration', '--rootDir', sources, '--outDir', clientDirectory],
  );
  const { info } = read(join(sources, 'openapi.json'));
  const { license, devDependencies } = read(join(root, 'package.json'));
  const manifest = {
    name: 'fleet-data-client',
    version: `1.0.0-${info.version}`,
    description: `The API of the Fleet Data Service, version ${info.version}`,
    license,
    type: 'module',
    exports: './index.js',
    files: ['*.js', '*.d.ts'],
    publishConfig: { tag: 'latest' }, // npm asks for one, because the version has a date
    dependencies: { standardwebhooks: devDependencies.standardwebhooks },
  };
  writeFileSync(join(clientDirectory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

if (import.meta.main) {
  buildClient();
  console.log(
    `Built the typed client in ${clientDirectory}: use it with npm install, or publish it with npm publish.`,
  );
}
