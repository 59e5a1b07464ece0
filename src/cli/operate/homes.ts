import { Command } from 'commander';
import { maxAccountsCounted } from '../../operator/api/counted.ts';
import type { Home } from '../../operator/api/service.ts';
import { operatorFor } from './context.ts';
import { print, tableOf } from './print.ts';

/** fleet home … */
export function homeCommands(): Command {
  const home = new Command('home').description('look at the homes: where accounts live');

  home
    .command('list')
    .description(
      'list all homes: how many accounts live there, how full they are, and when they will be full',
    )
    .action(async (_, command) => {
      print(command, await operatorFor(command).get('/homes'), (homes) =>
        tableOf(homes.map(row), ['home', 'accounts', 'size', 'events a day', 'full on']),
      );
    });

  return home;
}

function row({ name, accounts, bytes, share, eventsPerDay, fullOn }: Home): unknown[] {
  if (bytes === null || share === null) return [name, null, 'cannot be asked', null, null];
  const counted = accounts === maxAccountsCounted ? `${accounts}+` : accounts;
  const size = `${(bytes / 1e9).toFixed(2)} of 10 GB (${Math.round(share * 100)} %)`;
  return [name, counted, size, eventsPerDay, fullOn ?? 'not growing'];
}
