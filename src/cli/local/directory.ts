import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Certificates } from './certificates.ts';

/** Where `npm start` keeps everything: data, certificate, secrets, and what it tells other programs. */
export const localDirectory = resolve(import.meta.dirname, '../../../.local');
const demoFile = join(localDirectory, 'demo.json');

/** What a program needs to use the local service (design 10). */
export type Demo = {
  baseUrl: string;
  accountId: string;
  apiToken: string;
  operatorKey: string;
  connections: { id: string; name: string; ingestKey: string }[];
  portalSignInUrl: string;
  receiver: { url: string } & Certificates;
};

/** What the last `npm start` has written, if there was one. */
export const readDemo = (): Demo | undefined =>
  existsSync(demoFile) ? JSON.parse(readFileSync(demoFile, 'utf8')) : undefined;

export const writeDemo = (demo: Demo): void =>
  writeFileSync(demoFile, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });

/** Forgets all data of earlier runs here; what a deploy keeps, its keys above all, is none of it. */
export function forgetRuns(): void {
  if (!existsSync(localDirectory)) return;
  for (const name of readdirSync(localDirectory))
    if (name !== 'deploy') rmSync(join(localDirectory, name), { recursive: true });
}
