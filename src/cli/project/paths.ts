import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../../..');

/** The data of this machine alone. Git ignores it. */
export const localDirectory = join(root, '.local');

/** What `npm run assets` builds: files that Cloudflare serves without the Worker. */
export const siteDirectory = join(root, 'dist');
