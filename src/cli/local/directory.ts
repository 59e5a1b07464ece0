import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localDirectory } from '../project/paths.ts';
import type { Certificates } from './certificates.ts';

const demoFile = join(localDirectory, 'demo.json');

/** What a program needs to use the local service. */
export type Demo = {
  baseUrl: string;
  accountId: string;
  apiToken: string;
  operatorKey: string;
  /** The operator keys of its cells; earlier versions wrote none. */
  cells?: { [cell: string]: string };
  connections: { id: string; name: string; ingestKey: string }[];
  portalSignInUrl: string;
  receiver: { url: string } & Certificates;
};

/** What the last `npm start` wrote, if there was one. */
export const readDemo = (): Demo | undefined =>
  existsSync(demoFile) ? JSON.parse(readFileSync(demoFile, 'utf8')) : undefined;

/** Writes `.local/demo.json`, readable only by its owner, because it holds keys. */
export const writeDemo = (demo: Demo): void =>
  writeFileSync(demoFile, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });

/** Deletes the data of earlier runs, but not that of deploys: their keys exist nowhere else. */
export function forgetRuns(): void {
  if (!existsSync(localDirectory)) return;
  for (const name of readdirSync(localDirectory))
    if (name !== 'deploy') rmSync(join(localDirectory, name), { recursive: true });
}
