import { join, resolve } from 'node:path';

/** The project's folder: every other path of the programs starts here. */
export const root = resolve(import.meta.dirname, '../../..');

/** Where programs keep what belongs to this machine alone. Git ignores it. */
export const localDirectory = join(root, '.local');

/** What `npm run assets` builds: files that Cloudflare serves without asking the Worker. */
export const siteDirectory = join(root, 'dist');
