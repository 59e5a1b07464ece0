import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import * as v from 'valibot';
import { root } from '../project/paths.ts';

/** What may differ from one deployment to the next without a change to tracked files. */
export const Settings = v.object({
  name: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[a-z][a-z0-9-]{0,29}$/, '--name: up to 30 of a-z, 0-9 and -, beginning with a letter'),
    ),
  ),
  domain: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^([a-z0-9-]+\.)+[a-z]{2,}$/, '--domain: a host name alone, such as api.example.com'),
    ),
  ),
  emailFrom: v.optional(v.pipe(v.string(), v.email('--email-from: an email address'))),
  retentionDays: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^([7-9]|[1-9]\d{1,3})$/, '--retention-days: a whole number of days, 7 or more'),
    ),
  ),
});
export type Settings = v.InferOutput<typeof Settings>;

/** Ids that an account has given to what the Worker binds to. */
export type Ids = { database: string; namespace: string };

/** What a deployment consists of, by the names that an account knows it under. */
export type Plan = {
  worker: string;
  database: string;
  namespace: string;
  queues: string[];
  secrets: string[];
  /** wrangler.toml for this deployment, good wherever it lies; without ids it can only be tried. */
  configuration: (ids?: Ids) => object;
};

const Named = v.looseObject({ queue: v.string(), dead_letter_queue: v.optional(v.string()) });
const Configuration = v.looseObject({
  name: v.string(),
  main: v.string(),
  secrets: v.object({ required: v.array(v.string()) }),
  vars: v.record(v.string(), v.string()),
  d1_databases: v.strictTuple([v.looseObject({ database_name: v.string(), migrations_dir: v.string() })]),
  kv_namespaces: v.strictTuple([v.looseObject({ binding: v.string() })]),
  queues: v.object({ producers: v.array(Named), consumers: v.array(Named) }),
  analytics_engine_datasets: v.array(v.looseObject({ dataset: v.string() })),
  send_email: v.array(v.looseObject({ name: v.string() })),
  assets: v.looseObject({ directory: v.string() }),
});

/**
 * Reads wrangler.toml, and says what to deploy. With a name in `settings` everything carries it, so that two
 * deployments in one account share nothing. Mail is bound only where somebody is named to send it: an account
 * without Email Service need not have it.
 */
export function planOf(settings: Settings): Plan {
  const toml = v.parse(Configuration, parse(readFileSync(join(root, 'wrangler.toml'), 'utf8')));
  const named = (name: string) => (settings.name ? `${settings.name}-${name}` : name);
  const [database] = toml.d1_databases;
  const [namespace] = toml.kv_namespaces;
  const worker = settings.name ?? toml.name;
  const databaseName = named(database.database_name);
  const rename = ({ queue, dead_letter_queue: dead, ...rest }: v.InferOutput<typeof Named>) => ({
    ...rest,
    queue: named(queue),
    ...(dead && { dead_letter_queue: named(dead) }),
  });
  const queues = {
    producers: toml.queues.producers.map(rename),
    consumers: toml.queues.consumers.map(rename),
  };
  const everyQueue = [...queues.producers, ...queues.consumers].map(({ queue }) => queue);
  return {
    worker,
    database: databaseName,
    namespace: `${worker}-${namespace.binding.toLowerCase()}`,
    queues: [...new Set(everyQueue)],
    secrets: toml.secrets.required,
    configuration: (ids) => ({
      ...toml,
      name: worker,
      main: join(root, toml.main),
      d1_databases: [
        {
          ...database,
          database_name: databaseName,
          migrations_dir: join(root, database.migrations_dir),
          ...(ids && { database_id: ids.database }),
        },
      ],
      kv_namespaces: [{ ...namespace, ...(ids && { id: ids.namespace }) }],
      queues,
      analytics_engine_datasets: toml.analytics_engine_datasets.map((entry) => ({
        ...entry,
        dataset: named(entry.dataset).replaceAll('-', '_'),
      })),
      send_email: settings.emailFrom ? toml.send_email : [],
      assets: { ...toml.assets, directory: join(root, toml.assets.directory) },
      vars: {
        ...toml.vars,
        ...(settings.emailFrom && { EMAIL_FROM: settings.emailFrom }),
        ...(settings.retentionDays && { DELIVERY_RETENTION_DAYS: settings.retentionDays }),
      },
      // A domain of one's own is then the only address.
      workers_dev: !settings.domain,
      preview_urls: false,
      ...(settings.domain && { routes: [{ pattern: settings.domain, custom_domain: true }] }),
    }),
  };
}
