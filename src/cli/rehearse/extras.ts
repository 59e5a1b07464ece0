import type { D1Database, R2Bucket } from '@cloudflare/workers-types';

/** Restores what an extra keeps of files from the folder of a backup. Returns a line about them, and what is missing. */
export type Restore = (
  env: { DB: D1Database; ARCHIVE: R2Bucket },
  folder: string,
) => Promise<{ restored: string; problems: string[] }>;

export * from '../../extras/archive/commands/rehearse.ts';
