import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as v from 'valibot';
import { type Api, granted } from './api.ts';
import type { Key } from './keys.ts';
import { must, Stopped, type Wrangler } from './wrangler.ts';

/** Writes a configuration into `folder` and returns the file's path. */
export function writeConfiguration(folder: string, configuration: object): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'wrangler.json');
  writeFileSync(file, `${JSON.stringify(configuration, null, 2)}\n`);
  return file;
}

/** Bundles the Worker and checks its configuration, offline. Returns its size in words. @throws Stopped */
export async function tryUpload(wrangler: Wrangler, config: string): Promise<string> {
  const { text } = await must('Bundling', wrangler(['deploy', '--dry-run', '--config', config]));
  return /Total Upload: (.+)/.exec(text)?.[1] ?? 'of unknown size';
}

const Configuration = v.looseObject({ compatibility_flags: v.array(v.string()) });
type Configuration = v.InferOutput<typeof Configuration>;

/** Optional features: how Cloudflare refuses them, and the configuration without them. */
const optional = {
  /** Speeds up deliveries; without a default date, so it may not exist. */
  flag: {
    refused: 'queue_consumer_no_wait_for_wait_until',
    without: ({ compatibility_flags: flags, ...rest }: Configuration): Configuration => ({
      ...rest,
      compatibility_flags: flags.filter((flag) => flag !== optional.flag.refused),
    }),
  },
  /** An account must turn it on once: the code of an upload that names a dataset before. */
  'Analytics Engine': {
    refused: '[code: 10089]',
    without: ({ analytics_engine_datasets: _, ...rest }: Configuration): Configuration => rest,
  },
};
export type Refused = keyof typeof optional;

/**
 * Uploads the new code with `keys` as secrets, keeping all others. Optional features that Cloudflare refuses are left
 * out on another try, and returned. @throws Stopped
 */
export async function upload(
  wrangler: Wrangler,
  config: string,
  folder: string,
  keys: Key[],
): Promise<Refused[]> {
  const secrets = join(folder, 'secrets.json');
  const args = ['deploy', '--config', config];
  if (keys.length > 0) {
    const values = Object.fromEntries(keys.map(({ secret, value }) => [secret, value]));
    writeFileSync(secrets, JSON.stringify(values), { mode: 0o600 });
    args.push('--secrets-file', secrets);
  }
  const refused: Refused[] = [];
  try {
    for (;;) {
      const deployed = await wrangler(args);
      const left = (Object.keys(optional) as Refused[]).filter((one) => !refused.includes(one)); // its own keys
      const next = deployed.ok
        ? undefined
        : left.find((one) => deployed.text.includes(optional[one].refused));
      if (!next) {
        await must('Deploying the Worker', deployed);
        return refused;
      }
      refused.push(next);
      const configuration = v.parse(Configuration, JSON.parse(readFileSync(config, 'utf8')));
      writeConfiguration(folder, optional[next].without(configuration));
    }
  } finally {
    rmSync(secrets, { force: true });
  }
}

/**
 * Turns on replicas of databases, by id: one in each region, or in each of the jurisdiction.
 *
 * @throws Stopped
 */
export async function replicate(api: Api, databases: string[]): Promise<void> {
  const body = { read_replication: { mode: 'auto' } };
  for (const database of databases)
    await granted(
      'Turning on read replication',
      v.unknown(),
      api(`/d1/database/${database}`, { method: 'PUT', body }),
    );
}

const everyMs = 1000;

/**
 * Waits until the service responds at its new address, which takes a while after the first deploy. Returns the problem
 * that the service reports, or undefined if it is healthy.
 *
 * @throws Stopped, when it has not responded within `timeoutMs`
 */
export async function waitForHealth(url: string, timeoutMs: number): Promise<string | undefined> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await wait(everyMs)) {
    const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(10_000) }).catch(
      () => undefined,
    );
    if (!reply?.headers.has('x-request-id')) continue; // a page of Cloudflare's, not the service
    if (reply.ok) return undefined;
    const { message } = (await reply.json()) as { message: string }; // the envelope of a failure
    return `${reply.status} ${message}`;
  }
  throw new Stopped(
    `Deployed, but ${url} does not respond yet. A new address can take some minutes. Check ${url}/health, then run it again.`,
  );
}
