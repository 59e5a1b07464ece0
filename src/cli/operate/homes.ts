import type { Command } from 'commander';
import { maxAccountsCounted } from '../../operator/api/counted.ts';
import type { Home } from '../../operator/api/service.ts';
import { calling, group } from './command.ts';
import type { Column } from './print.ts';

const columns: Column<Home>[] = [
  ['home', 'name'],
  ['accounts', ({ accounts }) => (accounts === maxAccountsCounted ? `${accounts}+` : accounts)],
  [
    'size',
    ({ bytes, share }) =>
      bytes === null || share === null
        ? 'cannot be asked'
        : `${(bytes / 1e9).toFixed(2)} of 10 GB (${Math.round(share * 100)} %)`,
  ],
  ['events a day', 'eventsPerDay'],
  ['full on', (home) => (home.bytes === null ? null : (home.fullOn ?? 'not growing'))],
];

/** fleet home … */
export const homeCommands = (): Command =>
  group('home', 'look at the homes: where accounts live', [
    calling(
      'list',
      'list all homes: how many accounts live there, how full they are, and when they will be full',
      'GET /homes',
      columns,
    ),
  ]);
