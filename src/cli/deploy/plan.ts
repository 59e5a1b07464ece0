import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import * as v from 'valibot';
import { root } from '../project/paths.ts';
import type { Place } from './place.ts';
import { withOwnNamespaces } from './rate-limits.ts';
import type { Settings } from './settings.ts';

/** Ids in the account of what the Worker binds to. */
export type Ids = {
  database: string;
  namespace: string;
  /** Whether there is a bucket for the archive. */
  bucket: boolean;
};

/** What a deployment consists of, by the names it has in an account. */
export type Plan = {
  worker: string;
  database: string;
  namespace: string;
  bucket: string;
  queues: string[];
  secrets: string[];
  place: Place;
  /** The sender of mail, if any is sent. */
  emailFrom: string | undefined;
  /** The address that people will reach it at, if that is known beforehand. */
  origin: string | undefined;
  /**
   * wrangler.toml for this deployment, valid in any folder. Without ids it serves a dry run only; without an origin,
   * the Worker makes no links to itself. A bucket is found only by who names its jurisdiction.
   */
  configuration: (site: string, ids?: Ids, origin?: string, jurisdiction?: string) => object;
};

const Named = v.looseObject({ queue: v.string(), dead_letter_queue: v.optional(v.string()) });
const Configuration = v.looseObject({
  name: v.string(),
  main: v.string(),
  secrets: v.object({ required: v.array(v.string()) }),
  vars: v.record(v.string(), v.string()),
  d1_databases: v.strictTuple([v.looseObject({ database_name: v.string(), migrations_dir: v.string() })]),
  kv_namespaces: v.strictTuple([v.looseObject({ binding: v.string() })]),
  r2_buckets: v.strictTuple([v.looseObject({ bucket_name: v.string() })]),
  queues: v.object({ producers: v.array(Named), consumers: v.array(Named) }),
  analytics_engine_datasets: v.array(v.looseObject({ dataset: v.string() })),
  send_email: v.array(v.looseObject({ name: v.string() })),
  assets: v.looseObject({ directory: v.string() }),
  ratelimits: v.array(v.looseObject({ name: v.string() })),
});

/**
 * Reads wrangler.toml and plans a deployment. With a name in `settings`, everything carries that name, so that
 * two deployments in one account share nothing. Mail is bound only if there is a sender: an account without
 * Email Service does not need it.
 */
export function planOf(settings: Settings): Plan {
  const toml = v.parse(Configuration, parse(readFileSync(join(root, 'wrangler.toml'), 'utf8')));
  const named = (name: string) => (settings.name ? `${settings.name}-${name}` : name);
  const [database] = toml.d1_databases;
  const [namespace] = toml.kv_namespaces;
  const [bucket] = toml.r2_buckets;
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
    bucket: named(bucket.bucket_name),
    queues: [...new Set(everyQueue)],
    secrets: toml.secrets.required,
    place: { location: settings.location, jurisdiction: settings.jurisdiction },
    emailFrom: settings.emailFrom,
    origin: settings.domain && `https://${settings.domain}`,
    configuration: (site, ids, origin, jurisdiction) => ({
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
      r2_buckets:
        ids?.bucket === false
          ? []
          : [{ ...bucket, bucket_name: named(bucket.bucket_name), ...(jurisdiction && { jurisdiction }) }],
      queues,
      analytics_engine_datasets: toml.analytics_engine_datasets.map((entry) => ({
        ...entry,
        dataset: named(entry.dataset).replaceAll('-', '_'),
      })),
      send_email: settings.emailFrom ? toml.send_email : [],
      assets: { ...toml.assets, directory: site },
      ratelimits: withOwnNamespaces(worker, toml.ratelimits),
      vars: {
        ...toml.vars,
        ...(origin && { ORIGIN: origin }),
        ...(settings.emailFrom && { EMAIL_FROM: settings.emailFrom }),
        ...(settings.retentionDays && { DELIVERY_RETENTION_DAYS: settings.retentionDays }),
        ...(settings.hotDays && { HOT_DAYS: settings.hotDays }),
        ...(settings.mapStyleUrl && { MAP_STYLE_URL: settings.mapStyleUrl }),
      },
      // With a domain, that is the only address.
      workers_dev: !settings.domain,
      preview_urls: false,
      ...(settings.domain && { routes: [{ pattern: settings.domain, custom_domain: true }] }),
    }),
  };
}
