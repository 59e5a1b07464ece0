import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { operatorFor } from '../../cli/operate/cells.ts';
import { ApiError, insist } from '../../cli/operate/client.ts';
import type { Groups } from '../../cli/operate/derive.ts';
import { show } from '../../cli/operate/print.ts';

const maxTries = 6;

const exportCommand = (): Command =>
  new Command('export')
    .description("Export an account's lists as files, each with all connections")
    .requiredOption('--account <id>', 'account to export')
    .option(
      '--lists <names>',
      'lists separated by commas, such as trips,safety-events (default: all)',
    )
    .addOption(
      new Option('--format <format>', 'format of the files')
        .choices(['csv', 'parquet'])
        .default('csv'),
    )
    .option('--from <time>', 'only events, trips and accidents since a time')
    .option('--to <time>', 'only those before a time')
    .option('--output <folder>', 'folder for the files', '.')
    .addHelpText(
      'after',
      '\nThe files hold personal data. The service keeps them for seven days, too.',
    )
    .action(async ({ account: id, lists, format, from, to, output }, command) => {
      const operator = operatorFor(command);
      mkdirSync(output, { recursive: true });
      const body = { lists: lists?.split(/\s*,\s*/), format, from, to };
      const asked = await operator.call('POST /accounts/:id/exports', { id, body });
      const find = async () => {
        const all = await insist(maxTries, () =>
          operator.call('GET /accounts/:id/exports', { id }),
        );
        return all.find((one) => one.id === asked.id);
      };
      let found = await find();
      for (; found?.state === 'preparing'; found = await find()) await wait(1000);
      if (found?.state !== 'ready') throw new ApiError('The export has failed. Try again');
      for (const { name } of found.files) {
        const path = `/accounts/${id}/exports/${asked.id}/${name}`;
        await insist(maxTries, () => operator.download(path, join(output, name)));
      }
      show(command, found.files);
      if (found.truncated)
        throw new ApiError(
          `Records are missing: an export has ${found.records} at most. Choose fewer lists or days`,
        );
    });

export const commands: Groups = { '': { commands: [exportCommand] } };
