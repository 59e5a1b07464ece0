import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'smol-toml';
import { mainCell } from '../../platform/cells.ts';
import { root } from '../project/paths.ts';
import { routerConfiguration } from '../project/router.ts';

/** Changes the text of wrangler.toml. */
type Change = (toml: string) => string;

type Toml = {
  name: string;
  vars: object;
  d1_databases: object[];
  kv_namespaces: object[];
  r2_buckets: { bucket_name: string }[];
  ratelimits: { namespace_id: string }[];
  queues: { producers: { queue: string }[]; consumers: { queue: string }[] };
  [table: string]: unknown;
};

const strictFile = (name: string): string => join(root, `src/dev/strict/${name}.ts`);
const spread = strictFile('spread');

/**
 * The service by itself. With several isolates it passes everything on to others of the same code, whose configurations
 * follow.
 */
export function spreadOver(isolates: number, vars: object, change?: Change): object[] {
  const main = strictly(change);
  if (isolates === 1) return [main];
  const { assets: _, triggers: __, secrets: ___, ...shared } = main;
  const others = Array.from({ length: isolates }, (_, i) => ({
    ...shared,
    name: `${main.name}-${i + 1}`,
    main: spread,
    vars: { ...main.vars, ...vars },
    queues: { producers: main.queues.producers },
  }));
  const services = others.map(({ name: service }, i) => ({
    ...{ binding: `ISOLATE_${i + 1}`, service, entrypoint: 'Isolate' },
  }));
  return [{ ...main, main: spread, services }, ...others];
}

/** A router in front of `cells`, and those of them that run here, each with stores and vars of its own. */
export function routed(cells: string[], here: { cell: string; vars: object }[], change?: Change): object[] {
  const { assets: _, triggers: __, secrets: ___, ...main } = strictly(change);
  const workerOf = (cell: string) => `${main.name}-${cell}`;
  const router = routerConfiguration(
    `router-of-${here.map(({ cell }) => cell).join('-')}`,
    Object.fromEntries(cells.map((cell) => [cell, workerOf(cell)])),
  );
  return [
    { ...router, compatibility_flags: main.compatibility_flags, main: strictFile('router') },
    ...here.map(({ cell, vars }) => ({
      ...withOwnStores(main, cell),
      name: workerOf(cell),
      vars: { ...main.vars, ...vars, CELL: cell },
    })),
  ];
}

/** Stores of the same name are one store. Those of main are the ones of a service by itself. */
function withOwnStores(toml: Toml, cell: string): Toml {
  if (cell === mainCell) return toml;
  const renamed = <T extends object>(tables: T[], ...names: (keyof T)[]) =>
    tables.map((table) => ({
      ...table,
      ...Object.fromEntries(names.map((name) => [name, `${table[name]}-${cell}`])),
    }));
  return {
    ...toml,
    d1_databases: toml.d1_databases.map((database) => ({ ...database, database_id: cell })),
    kv_namespaces: toml.kv_namespaces.map((namespace) => ({ ...namespace, id: cell })),
    r2_buckets: renamed(toml.r2_buckets, 'bucket_name'),
    ratelimits: renamed(toml.ratelimits, 'namespace_id'),
    queues: {
      producers: renamed(toml.queues.producers, 'queue'),
      consumers: renamed(toml.queues.consumers, 'queue'),
    },
  };
}

/** The project's configuration, in a runtime that enforces production's limits, unlike Miniflare. */
function strictly(change: Change = (toml) => toml): Toml {
  const toml = readFileSync(join(root, 'wrangler.toml'), 'utf8')
    .replace('main = "src/index.ts"', 'main = "src/dev/strict/worker.ts"')
    .replace('compatibility_flags = [', 'compatibility_flags = ["nodejs_als", ');
  const absolute = change(toml).replace(
    /^(main|migrations_dir|directory) = "(.+)"$/gm,
    (_, key, path) => `${key} = "${resolve(root, path)}"`,
  );
  return parse(absolute) as Toml; // a file of ours
}
