import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { type Api, must, Stopped, type Wrangler } from '../project/cloudflare.ts';
import type { Toml } from '../project/toml.ts';
import { deployedAs } from './account.ts';
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

type Optional = 'compatibility_flags' | 'analytics_engine_datasets' | 'logpush';
type Configuration = Pick<Toml, 'name' | 'observability' | Optional>;

/** Speeds up deliveries; without a default date, so it may not exist. */
const noWait = 'queue_consumer_no_wait_for_wait_until';

const noLogpush = `Cloudflare refuses Logpush: this account is on Workers Free, or the credentials lack the permission. So
  it keeps the log for some days and sends it nowhere. For a Logpush job, change that and deploy again.`;

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
  '[code: 10023]': [(before) => ({ ...before, logpush: false }), noLogpush],
};

/**
 * Uploads code and keys, but for what Cloudflare refuses. Calls `onceUploaded` as soon as the Worker has the keys,
 * whatever fails afterwards. Returns the consequences, and the version.
 */
export async function upload(
  api: Api,
  wrangler: Wrangler,
  folder: string,
  configuration: Configuration,
  keys: Key[],
  onceUploaded: () => void = () => {},
): Promise<{ consequences: string[]; version: string | undefined }> {
  const secrets = join(folder, 'secrets.json');
  const args = ['deploy', '--config', writeConfiguration(folder, configuration)];
  if (keys.length > 0) {
    const values = Object.fromEntries(keys.map(({ secret, value }) => [secret, value]));
    writeFileSync(secrets, JSON.stringify(values), { mode: 0o600 });
    args.push('--secrets-file', secrets);
  }
  const consequences = new Set<string>();
  const { name, observability } = configuration;
  let uploads = 0;
  try {
    for (let current = configuration; ; writeConfiguration(folder, current)) {
      const deployed = await wrangler(args);
      const isUploaded = deployed.ok || deployed.text.includes(`Uploaded ${name} `);
      if (isUploaded && uploads++ === 0) onceUploaded();
      // Wrangler looks at once for what it has uploaded first, which Cloudflare may not know everywhere yet.
      if (isUploaded && !deployed.ok && uploads === 1) continue;
      const refused = Object.entries(optional).find(
        ([refusal, [, meaning]]) => deployed.text.includes(refusal) && !consequences.has(meaning),
      );
      if (deployed.ok || !refused) {
        must('Deploying the Worker', deployed);
        break;
      }
      const [, [without, meaning]] = refused;
      consequences.add(meaning);
      current = without(current);
    }
  } finally {
    rmSync(secrets, { force: true });
  }
  for (const one of await mustLogNoUrls(api, name, observability)) consequences.add(one);
  return { consequences: [...consequences], version: (await deployedAs(api, name)).version };
}

const maybe = v.nullish(v.boolean());
const Observability = v.object({
  redact_query_string: maybe,
  issues: v.nullish(v.object({ enabled: maybe })),
  logs: v.nullish(v.object({ invocation_logs: maybe })),
  traces: v.nullish(v.object({ enabled: maybe })),
});
const LogSettings = v.object({ logpush: maybe, observability: v.nullish(Observability) });

/**
 * Makes sure that Cloudflare logs no queries of URLs, and no requests. Wrangler only warns if it cannot set this for a Worker that exists. Returns
 * the consequences. @throws Stopped
 */
async function mustLogNoUrls(api: Api, worker: string, observability: object): Promise<string[]> {
  const what = 'Setting what Cloudflare logs';
  const path = `/workers/scripts/${worker}/script-settings`;
  for (const body of [undefined, { observability }]) {
    if (body) await api(what, v.unknown(), path, { method: 'PATCH', body });
    const found = await api(what, LogSettings, path);
    const { redact_query_string: redacted, issues, logs, traces } = found.observability ?? {};
    const isOff = logs?.invocation_logs === false && !traces?.enabled && !issues?.enabled;
    if (redacted && isOff) return found.logpush ? [] : [noLogpush];
  }
  throw new Stopped(
    `Deployed, but Cloudflare may log whole URLs, which hold sign-in links. In the dashboard, have query strings redacted ` +
      `and turn off invocation logs, traces and Issues of the Worker ${worker}, and run it again.`,
  );
}
