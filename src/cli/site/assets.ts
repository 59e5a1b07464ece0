import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildDocs } from '../../docs/pages/build.ts';

/** Makes `dist/`: all that is served as it is, before the Worker is asked. */
const root = resolve(import.meta.dirname, '../../..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
portal();
documents();
await buildDocs(dist);

function portal(): void {
  cpSync(join(root, 'src/portal/assets'), join(dist, 'portal'), { recursive: true });
  cpSync(join(root, 'node_modules/@picocss/pico/css/pico.min.css'), join(dist, 'portal/pico.min.css'));
}

/** A program of its own prints them: they are made of the Worker's sources, which are typed as such. */
function documents(): void {
  const program = join(root, 'src/docs/openapi/print.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    encoding: 'utf8',
    maxBuffer: 2 ** 25,
  });
  if (status !== 0) throw new Error(`The API's documents cannot be made:\n${stderr}`);
  for (const [path, document] of Object.entries<object>(JSON.parse(stdout)))
    writeFileSync(join(dist, path), `${JSON.stringify(document, null, 2)}\n`);
}
