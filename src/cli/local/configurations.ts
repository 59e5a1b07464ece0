import { join } from 'node:path';
import { mainCell } from '../../core/platform/cells.ts';
import { root } from '../project/paths.ts';
import { readToml, renamed, routerConfiguration, type Toml } from '../project/toml.ts';

/** Changes what wrangler.toml says. */
export type Change = (toml: Toml) => Toml;

type Configuration = { name: string; [key: string]: unknown };

/** Rate limits that nothing reaches. */
export const unlimited: Change = (toml) => ({
  ...toml,
  ratelimits: toml.ratelimits.map((one) => ({
    ...one,
    simple: { ...one.simple, limit: 1_000_000_000 },
  })),
});

const strictFile = (name: string): string => join(root, `src/dev/strict/${name}.ts`);
const spread = strictFile('spread');

/** The service by itself, or a Worker that passes everything on to several isolates of it. */
export function spreadOver(isolates: number, vars: object, change?: Change): Configuration[] {
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

/** A router in front of `cells`, and those that run here, each with stores and vars of its own. */
export function routed(
  cells: string[],
  here: { cell: string; vars: object }[],
  change?: Change,
): Configuration[] {
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

type Stores = Pick<Toml, 'd1_databases' | 'kv_namespaces' | 'r2_buckets' | 'queues' | 'ratelimits'>;

/** Stores of the same name are one store. Those of main are the ones of a service by itself. */
function withOwnStores<T extends Stores>(toml: T, cell: string): T {
  if (cell === mainCell) return toml;
  const ofCell = (name: string) => `${name}-${cell}`;
  const [[database], [namespace]] = [toml.d1_databases, toml.kv_namespaces];
  return {
    ...renamed(toml, ofCell),
    d1_databases: [{ ...database, database_id: cell }],
    kv_namespaces: [{ ...namespace, id: cell }],
    ratelimits: toml.ratelimits.map((one) => ({ ...one, namespace_id: ofCell(one.namespace_id) })),
  };
}

/** The project's configuration, in a runtime that enforces production's limits. */
function strictly(change: Change = (toml) => toml): Toml {
  const toml = readToml();
  const compatibility_flags = ['nodejs_als', ...toml.compatibility_flags];
  return change({ ...toml, main: strictFile('worker'), compatibility_flags });
}
