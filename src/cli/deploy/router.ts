import { InvalidArgumentError, Option } from 'commander';
import { cellName, mainCell } from '../../core/platform/cells.ts';
import { type Api, Stopped } from '../project/cloudflare.ts';
import { readToml, routerConfiguration } from '../project/toml.ts';
import { deployedAs } from './account.ts';

/** The Worker of each cell, by the cell's name. */
export type Cells = Map<string, string>;

const example = `${mainCell}=fleet-data-service,eu=fleet-eu`;

export const routerOption = new Option(
  '--router <cells>',
  `deploy the router in front of these cells, such as ${example}`,
).argParser((text): Cells => {
  const pairs = text
    .split(',')
    .map((pair) => /^([^=]+)=([a-z0-9][a-z0-9-]*)$/.exec(pair.trim()) ?? []);
  const cells = new Map(pairs.map(([, name = '', worker = '']) => [name, worker]));
  const areNames = [...cells.keys()].every((name) => cellName.test(name));
  if (areNames && cells.size === pairs.length && cells.has(mainCell)) return cells;
  throw new InvalidArgumentError(
    `It must name each cell with its Worker, ${mainCell} among them, such as ${example}.`,
  );
});

/** The name of the router's Worker, unless it is given another. */
export const routerName = 'fleet-router';

/** The configuration of the router. */
export const deployedRouter = (cells: Cells, name: string, atWorkersDev: boolean) => ({
  ...routerConfiguration(name, Object.fromEntries(cells)),
  compatibility_flags: [],
  analytics_engine_datasets: [],
  workers_dev: atWorkersDev,
  preview_urls: false,
});

/** The address of deployed cells, which the router takes over. @throws Stopped */
export async function addressOf(
  api: Api,
  cells: Cells,
  name: string,
  domain: string | undefined,
): Promise<string> {
  const toml = readToml();
  const workers = [name, ...cells.values()];
  const [taken, ...found] = await Promise.all(workers.map((worker) => deployedAs(api, worker)));
  if (Object.keys(taken?.vars ?? {}).length > 0)
    throw new Stopped(
      `The Worker ${name} is a deployment of the service. Choose another --name for the router.`,
    );
  const deployed = [...cells].map(([cell, worker], i) => ({
    cell,
    worker,
    vars: found[i]?.vars ?? {},
  }));
  const origin = domain ? `https://${domain}` : deployed.find(({ vars }) => vars.CELL)?.vars.ORIGIN;
  const wrong = deployed.filter(({ cell, vars }) => vars.CELL !== cell || vars.ORIGIN !== origin);
  if (origin && wrong.length === 0) return origin;
  const host = origin ? new URL(origin).host : 'HOST';
  const commands = wrong.map(({ cell, worker }) => {
    const named = worker === toml.name ? '' : ` --name ${worker}`;
    return `\n  npm run deploy --${named} --cell ${cell} --domain ${host}`;
  });
  throw new Stopped(
    `These are not deployed as cells of ${host}. Deploy them first:${commands.join('')}`,
  );
}
