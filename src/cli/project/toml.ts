import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'smol-toml';
import { cellBinding } from '../../router/cells.ts';
import { root, siteDirectory } from './paths.ts';

export type Toml = {
  name: string;
  main: string;
  compatibility_date: string;
  compatibility_flags: string[];
  logpush: boolean;
  observability: object;
  secrets: { required: string[] };
  vars: { [name: string]: string };
  d1_databases: [Database];
  kv_namespaces: [{ binding: string; id?: string }];
  r2_buckets: [{ binding: string; bucket_name: string }];
  queues: { producers: Queue[]; consumers: Queue[] };
  analytics_engine_datasets: { dataset: string }[];
  send_email: object[];
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: number } }[];
  [table: string]: unknown;
};
type Database = { binding: string; database_name: string; database_id?: string };
type Queue = { queue: string; [setting: string]: string | number };

/** wrangler.toml, with paths that are valid in any folder. */
export function readToml(): Toml {
  const text = readFileSync(join(root, 'wrangler.toml'), 'utf8');
  const paths = /^(main|migrations_dir|directory) = "(.+)"$/gm;
  return parse(text.replace(paths, (_, key, path) => `${key} = "${resolve(root, path)}"`)) as Toml; // a file of ours
}

/** A configuration whose bucket and queues have other names. */
export function renamed<T extends Pick<Toml, 'r2_buckets' | 'queues'>>(
  toml: T,
  rename: (name: string) => string,
): T {
  const [bucket] = toml.r2_buckets;
  const ofQueue = (one: Queue) => ({ ...one, queue: rename(one.queue) });
  const { producers, consumers } = toml.queues;
  return {
    ...toml,
    r2_buckets: [{ ...bucket, bucket_name: rename(bucket.bucket_name) }],
    queues: { producers: producers.map(ofQueue), consumers: consumers.map(ofQueue) },
  };
}

/** The configuration of a router in front of `cells`: their Workers, by the cells' names. */
export function routerConfiguration(name: string, cells: { [cell: string]: string }) {
  const { compatibility_date, minify, upload_source_maps, ...toml } = readToml();
  const { logpush, observability, version_metadata } = toml;
  return {
    ...{ compatibility_date, minify, upload_source_maps },
    ...{ logpush, observability, version_metadata },
    name,
    main: join(root, 'src/router/index.ts'),
    assets: { directory: siteDirectory },
    services: Object.entries(cells).map(([cell, service]) => ({
      binding: cellBinding(cell),
      service,
    })),
  };
}

/** Limiters of equal `namespace_id` are counted together: each gets its own, always the same. */
export const withOwnNamespaces = <T extends { name: string }>(worker: string, limiters: T[]) =>
  limiters.map((limiter) => {
    const digest = createHash('sha256').update(`${worker}/${limiter.name}`).digest();
    return { ...limiter, namespace_id: String(digest.readUInt32BE() & 0x7fffffff) };
  });
