import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { root, siteDirectory } from '../project/paths.ts';
import type { Settings, Vars } from './settings.ts';

/** The ids of the Worker's bindings, and whether there is a bucket, and in which jurisdiction. */
export type Ids = {
  namespace: string;
  database: string;
  bucket: boolean;
  jurisdiction: string | undefined;
};

/** The parts of a deployment, by their names in an account. */
export type Plan = ReturnType<typeof planOf>;

/** What is read of wrangler.toml. */
type Toml = {
  name: string;
  main: string;
  compatibility_flags: string[];
  secrets: { required: string[] };
  vars: Vars;
  d1_databases: [Database, ...Database[]];
  kv_namespaces: [{ binding: string }];
  r2_buckets: [Bucket, ...Bucket[]];
  queues: { producers: Queue[]; consumers: Queue[] };
  analytics_engine_datasets: { dataset: string }[];
  send_email: object[];
  assets: object;
  ratelimits: { name: string }[];
};
type Database = { binding: string; database_name: string; migrations_dir: string };
type Bucket = { binding: string; bucket_name: string };
type Queue = { queue: string; dead_letter_queue?: string };

export const readToml = (): Toml => parse(readFileSync(join(root, 'wrangler.toml'), 'utf8')) as Toml; // a file of ours

/**
 * Reads wrangler.toml and plans a deployment. With a name in `settings`, everything carries that name, so that two
 * deployments in one account share nothing. Mail is bound only if there is a sender, so that an account without Email
 * Service does not need it.
 */
export function planOf(settings: Settings) {
  const toml = readToml();
  const named = (name: string) => (settings.name ? `${settings.name}-${name}` : name);
  const [database] = toml.d1_databases;
  const [namespace] = toml.kv_namespaces;
  const [bucket] = toml.r2_buckets;
  const worker = settings.name ?? toml.name;
  const { producers, consumers } = toml.queues;
  const rename = ({ queue, dead_letter_queue: dead, ...rest }: Queue) => ({
    ...rest,
    queue: named(queue),
    ...(dead && { dead_letter_queue: named(dead) }),
  });
  return {
    worker,
    database: named(database.database_name),
    bucket: named(bucket.bucket_name),
    queues: [...new Set([...producers, ...consumers].map(({ queue }) => named(queue)))],
    namespace: `${worker}-${namespace.binding.toLowerCase()}`,
    secrets: toml.secrets.required,
    place: { location: settings.location, jurisdiction: settings.jurisdiction },
    /** The vars of a new Worker, whatever the settings. */
    vars: toml.vars,
    replicas: settings.replicas === 'true',
    cell: settings.cell,
    /** The public address, if that is known beforehand. */
    origin: settings.domain && `https://${settings.domain}`,
    /**
     * wrangler.toml for this deployment, valid in any folder. Without ids it serves a dry run only; without an origin,
     * the Worker makes no links to itself.
     */
    configuration: (ids?: Ids, origin?: string) => ({
      ...toml,
      name: worker,
      main: join(root, toml.main),
      d1_databases: [
        {
          ...database,
          database_name: named(database.database_name),
          migrations_dir: join(root, database.migrations_dir),
          ...(ids && { database_id: ids.database }),
        },
      ],
      kv_namespaces: [{ ...namespace, ...(ids && { id: ids.namespace }) }],
      r2_buckets:
        ids?.bucket === false
          ? []
          : [
              {
                ...bucket,
                bucket_name: named(bucket.bucket_name),
                ...(ids?.jurisdiction && { jurisdiction: ids.jurisdiction }),
              },
            ],
      queues: { producers: producers.map(rename), consumers: consumers.map(rename) },
      analytics_engine_datasets: toml.analytics_engine_datasets.map((entry) => ({
        ...entry,
        dataset: named(entry.dataset).replaceAll('-', '_'),
      })),
      send_email: settings.emailFrom ? toml.send_email : [],
      assets: { ...toml.assets, directory: siteDirectory },
      ratelimits: withOwnNamespaces(worker, toml.ratelimits),
      vars: {
        ...toml.vars,
        ...(origin && { ORIGIN: origin }),
        ...(settings.cell && { CELL: settings.cell }),
        ...(settings.emailFrom && { EMAIL_FROM: settings.emailFrom }),
        ...(settings.retentionDays && { DELIVERY_RETENTION_DAYS: settings.retentionDays }),
        ...(settings.hotDays && { HOT_DAYS: settings.hotDays }),
        ...(settings.replicas === 'true' && { READ_REPLICAS: 'true' }),
        ...(settings.mapStyleUrl && { MAP_STYLE_URL: settings.mapStyleUrl }),
      },
      // The nearest replica is the client's only if the Worker runs near the client.
      ...(settings.replicas === 'true' && { placement: undefined }),
      ...(settings.cell ? { workers_dev: false, preview_urls: false } : addressed(settings.domain)),
    }),
  };
}

/** At a domain, which is then the only address, or below workers.dev. */
export const addressed = (domain: string | undefined) => ({
  workers_dev: !domain,
  preview_urls: false,
  ...(domain && { routes: [{ pattern: domain, custom_domain: true }] }),
});

/**
 * Gives rate limiters namespaces of their own, because Cloudflare counts limiters of equal `namespace_id` together
 * across an account's Workers. The ids are positive 32-bit integers computed from the Worker's name and the limiter's,
 * so that each deploy keeps its counters.
 */
export function withOwnNamespaces<T extends { name: string }>(
  worker: string,
  limiters: T[],
): (T & { namespace_id: string })[] {
  return limiters.map((limiter) => ({
    ...limiter,
    namespace_id: String(positive32(`${worker}/${limiter.name}`)),
  }));
}

const positive32 = (text: string): number =>
  createHash('sha256').update(text).digest().readUInt32BE() & 0x7fffffff;
