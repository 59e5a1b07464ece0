import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { cellBinding } from '../../platform/cells.ts';
import { root, siteDirectory } from './paths.ts';

/** What a router has in common with the service. */
const shared = [
  'compatibility_date',
  'minify',
  'keep_names',
  'upload_source_maps',
  'logpush',
  'observability',
] as const;

/** The configuration of a router called `name` in front of `cells`: the names of their Workers, by those of the cells. */
export function routerConfiguration(name: string, cells: { [cell: string]: string }) {
  const toml = parse(readFileSync(join(root, 'wrangler.toml'), 'utf8'));
  return {
    ...Object.fromEntries(shared.map((key) => [key, toml[key]])),
    name,
    main: join(root, 'src/router/index.ts'),
    assets: { directory: siteDirectory },
    services: Object.entries(cells).map(([cell, service]) => ({
      binding: cellBinding(cell),
      service,
    })),
  };
}
