import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Makes `dist/`: all that is served as it is, before the Worker is asked. */
const root = resolve(import.meta.dirname, '../..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
portal();

function portal(): void {
  cpSync(join(root, 'src/portal/assets'), join(dist, 'portal'), { recursive: true });
  cpSync(join(root, 'node_modules/@picocss/pico/css/pico.min.css'), join(dist, 'portal/pico.min.css'));
}
