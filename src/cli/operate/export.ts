import { renameSync, rmSync } from 'node:fs';
import { Command, Option } from 'commander';
import published from '../../docs/openapi/published/openapi.json' with { type: 'json' };
import { operatorFor } from './context.ts';
import { download, forgetDownload } from './export/download.ts';
import type { Format } from './export/write.ts';
import { show, startBar } from './print.ts';

/** From the contract, because loading the declarations of all records would slow down other commands. */
const kinds = published.paths['/changes'].get.parameters.flatMap((parameter) =>
  'name' in parameter && parameter.name === 'kinds' ? (parameter.schema.items?.enum ?? []) : [],
);
const formatNames = Object.keys({ ndjson: true, csv: true, parquet: true } satisfies Record<Format, true>);

export function exportCommand(): Command {
  return new Command('export')
    .description("Write an account's records of one kind to a file; can be resumed")
    .requiredOption('--account <id>', 'account to export')
    .addOption(new Option('--kind <kind>', 'kind of the records').choices(kinds).makeOptionMandatory())
    .addOption(new Option('--format <format>', 'format of the file').choices(formatNames).default('ndjson'))
    .option('--from <time>', 'only records since a time or date, for kinds that have one', '1970-01-01')
    .option('--to <time>', 'only records before a time or date', '9999-12-31')
    .option('--output <file>', 'file to write (default: KIND.FORMAT)')
    .addHelpText('after', '\nThe file holds personal data. CSV and Parquet have a column for each field.')
    .action(async ({ account, kind, from, to, format, output }: Options, command) => {
      const { columnsOf, formats } = await import('./export/write.ts');
      const file = output ?? `${kind}.${format}`;
      const partial = `${file}.partial`;
      const bar = startBar(command, barFormat, 1, { rows: 0 });
      try {
        const wanted = { account, kind, from, to };
        const rows = await download(operatorFor(command), wanted, partial, (rows, done, all) => {
          bar?.setTotal(all);
          bar?.update(done, { rows });
        });
        const complete = `${file}.new`;
        rmSync(complete, { force: true }); // files that are there keep the mode that they have
        await formats[format](partial, complete, columnsOf(kind));
        renameSync(complete, file);
        forgetDownload(partial);
        bar?.stop();
        show(command, { file, rows });
      } finally {
        bar?.stop();
      }
    });
}

type Options = {
  account: string;
  kind: string;
  from: string;
  to: string;
  format: Format;
  output?: string;
};

const barFormat = '{bar} {value} of {total} connections  {rows} records  {duration_formatted}';
