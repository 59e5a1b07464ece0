import { readToml, renamed, withOwnNamespaces } from '../project/toml.ts';
import { type Settings, varsFor } from './settings.ts';

/** The ids of the Worker's bindings, and whether there is a bucket, and in which jurisdiction. */
export type Ids = {
  namespace: string;
  database: string;
  bucket: boolean;
  jurisdiction: string | undefined;
};

/** Cloud regions beside those of D1, near which Cloudflare can run a Worker. Those of Asia are too far apart. */
const nearby: { [region: string]: string } = {
  WNAM: 'aws:us-west-1',
  ENAM: 'aws:us-east-1',
  WEUR: 'aws:eu-west-3',
  EEUR: 'aws:eu-central-1',
  OC: 'aws:ap-southeast-2',
};

/** The parts of a deployment, by their names in an account. */
export type Plan = ReturnType<typeof planOf>;

/** Plans a deployment after wrangler.toml. With a name, it shares nothing with others. */
export function planOf(settings: Settings) {
  const { name, cell, domain, location, jurisdiction } = settings;
  const named = (one: string) => (name ? `${name}-${one}` : one);
  const toml = renamed(readToml(), named);
  const worker = name ?? toml.name;
  const [bucket] = toml.r2_buckets;
  const [namespace] = toml.kv_namespaces;
  const database = {
    ...toml.d1_databases[0],
    database_name: named(toml.d1_databases[0].database_name),
  };
  const queues = [...toml.queues.producers, ...toml.queues.consumers].map(({ queue }) => queue);
  const replicas = settings.replicas === 'true';
  return {
    worker,
    database: database.database_name,
    bucket: bucket.bucket_name,
    queues: [...new Set(queues)],
    namespace: `${worker}-${namespace.binding.toLowerCase()}`,
    secrets: toml.secrets.required,
    place: { location, jurisdiction },
    /** The vars of a new Worker, whatever the settings. */
    vars: toml.vars,
    replicas,
    cell,
    /** The public address, if that is known beforehand. */
    origin: domain && `https://${domain}`,
    /** The Worker's own. */
    domain: cell ? undefined : domain,
    /** wrangler.toml for this deployment, whose database runs in `region`; of a dry run nothing is known. */
    configuration: (ids?: Ids, origin?: string, region = '', keepsWorkersDev = false) => ({
      ...toml,
      name: worker,
      d1_databases: [{ ...database, ...(ids && { database_id: ids.database }) }],
      kv_namespaces: [{ ...namespace, ...(ids && { id: ids.namespace }) }],
      r2_buckets:
        ids?.bucket === false
          ? []
          : [{ ...bucket, ...(ids?.jurisdiction && { jurisdiction: ids.jurisdiction }) }],
      analytics_engine_datasets: toml.analytics_engine_datasets.map((one) => ({
        ...one,
        dataset: named(one.dataset).replaceAll('-', '_'),
      })),
      // An account without Email Service needs none.
      send_email: settings.emailFrom ? toml.send_email : [],
      ratelimits: withOwnNamespaces(worker, toml.ratelimits),
      vars: { ...toml.vars, ...varsFor(settings), ORIGIN: origin },
      // The nearest replica is the client's only if the Worker runs near the client.
      placement: replicas
        ? undefined
        : nearby[region]
          ? { region: nearby[region] }
          : toml.placement,
      workers_dev: keepsWorkersDev || (!cell && !domain),
      preview_urls: false,
    }),
  };
}
