import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { cellsNamed } from '../../platform/cells.ts';
import { must, Stopped, type Wrangler } from './cloudflare.ts';
import type { Key } from './keys.ts';

/** Writes a configuration into `folder` and returns the file's path. */
export function writeConfiguration(folder: string, configuration: object): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'wrangler.json');
  writeFileSync(file, `${JSON.stringify(configuration, null, 2)}\n`);
  return file;
}

/** Bundles the Worker offline, and returns its size in words. @throws Stopped */
export async function tryUpload(wrangler: Wrangler, config: string): Promise<string> {
  const { text } = must('Bundling', await wrangler(['deploy', '--dry-run', '--config', config]));
  return /Total Upload: (.+)/.exec(text)?.[1] ?? 'of unknown size';
}

type Configuration = { compatibility_flags: string[]; analytics_engine_datasets: object[] };

/** Speeds up deliveries; without a default date, so it may not exist. */
const noWait = 'queue_consumer_no_wait_for_wait_until';

/** By how Cloudflare refuses an optional feature: how to do without, and the consequences. */
const optional: { [refusal: string]: [(before: Configuration) => Configuration, string] } = {
  [noWait]: [
    (before) => ({
      ...before,
      compatibility_flags: before.compatibility_flags.filter((flag) => flag !== noWait),
    }),
    `Cloudflare does not know the flag ${noWait}, so the Worker runs without it.
  Deliveries then hold a queue consumer while a receiver takes its time: Cloudflare runs up to 250 at once, with five
  calls each, for all accounts together. Everything else stays the same.`,
  ],
  // An account must turn it on once: the code of an upload that names a dataset before.
  '[code: 10089]': [
    (before) => ({ ...before, analytics_engine_datasets: [] }),
    `this account has not turned on Analytics Engine, so attempts are not counted there; the log has them.
  Turn it on in the dashboard and deploy again.`,
  ],
};

/** Uploads code and keys, but for what Cloudflare refuses; returns the consequences. */
export async function upload(
  wrangler: Wrangler,
  folder: string,
  configuration: Configuration,
  keys: Key[],
): Promise<string[]> {
  const secrets = join(folder, 'secrets.json');
  const args = ['deploy', '--config', writeConfiguration(folder, configuration)];
  if (keys.length > 0) {
    const values = Object.fromEntries(keys.map(({ secret, value }) => [secret, value]));
    writeFileSync(secrets, JSON.stringify(values), { mode: 0o600 });
    args.push('--secrets-file', secrets);
  }
  const consequences = new Set<string>();
  try {
    for (let current = configuration; ; writeConfiguration(folder, current)) {
      const deployed = await wrangler(args);
      const refused = Object.entries(optional).find(
        ([refusal, [, meaning]]) => deployed.text.includes(refusal) && !consequences.has(meaning),
      );
      if (deployed.ok || !refused) {
        must('Deploying the Worker', deployed);
        return [...consequences];
      }
      const [, [without, meaning]] = refused;
      consequences.add(meaning);
      current = without(current);
    }
  } finally {
    rmSync(secrets, { force: true });
  }
}

/** Waits for the service, or a router of these cells. Returns its problem. @throws Stopped */
export async function waitForHealth(
  url: string,
  timeoutMs: number,
  cells: Iterable<string> = [],
): Promise<string | undefined> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await wait(1000)) {
    const reply = await healthAt(url);
    if (!reply?.headers.has('x-request-id')) continue; // a page of Cloudflare's, not the service
    if (cellsNamed(reply).sort().join() !== [...cells].sort().join()) continue; // what was there before
    if (reply.ok) return undefined;
    const { message } = (await reply.json()) as { message: string }; // the envelope of a failure
    return `${reply.status} ${message}`;
  }
  throw new Stopped(
    `Deployed, but ${url} does not respond yet. A new address can take some minutes. Check ${url}/health, then run it again.`,
  );
}

export const healthAt = (url: string): Promise<Response | undefined> =>
  fetch(`${url}/health`, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined);
