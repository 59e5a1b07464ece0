import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from './plan.ts';

const fileIn = (folder: string): string => join(folder, 'origin');

/**
 * The address that the Worker will have: its domain, or what Cloudflare gave it at an earlier deploy from this
 * machine. Undefined where that is yet to be learnt.
 */
export function knownOrigin(folder: string, plan: Plan): string | undefined {
  if (plan.origin) return plan.origin;
  return existsSync(fileIn(folder)) ? readFileSync(fileIn(folder), 'utf8').trim() : undefined;
}

/** Keeps the address that Cloudflare has given, so that later deploys need to upload only once. */
export const keepOrigin = (folder: string, origin: string): void =>
  writeFileSync(fileIn(folder), `${origin}\n`);
