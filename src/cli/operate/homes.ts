import { Command } from 'commander';
import { operatorFor } from './context.ts';
import { printableJson } from './printable.ts';
import { tableOf } from './table.ts';

type Home = {
  name: string;
  accounts: number | null;
  bytes: number | null;
  share: number | null;
  eventsPerDay: number | null;
  fullOn: string | null;
};

/** The service stops counting here: such a count stands for itself or more. */
const maxAccounts = 10_000;

/** fleet home … */
export function homeCommands(): Command {
  const home = new Command('home').description('look at the homes: where accounts live');

  home
    .command('list')
    .description(
      'list all homes: how many accounts live there, how full they are, and when they will be full',
    )
    .action(async (_, command) => {
      const homes = await operatorFor(command).get<Home[]>('/homes');
      if (command.optsWithGlobals().json) console.log(printableJson(homes));
      else console.log(tableOf(homes.map(row), ['home', 'accounts', 'size', 'events a day', 'full on']));
    });

  return home;
}

function row({ name, accounts, bytes, share, eventsPerDay, fullOn }: Home): unknown[] {
  if (bytes === null || share === null) return [name, null, 'cannot be asked', null, null];
  const counted = accounts === maxAccounts ? `${accounts}+` : accounts;
  const size = `${(bytes / 1e9).toFixed(2)} of 10 GB (${Math.round(share * 100)} %)`;
  return [name, counted, size, eventsPerDay, fullOn ?? 'not growing'];
}
