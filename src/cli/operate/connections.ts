import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { ApiError } from './client.ts';
import { operatorFor } from './context.ts';
import { deleteConnectionCommand } from './delete.ts';
import { show } from './print.ts';
import { pullCommands, secretFrom } from './pulls.ts';

const columns = ['id', 'name', 'provider', 'tSP', 'healthStatus', 'lastPulledAt', 'createdAt'];

/** fleet connection … */
export function connectionCommands(): Command {
  const connection = new Command('connection').description(
    'manage connections: the data sources of an account',
  );

  connection
    .command('create')
    .description('create a connection')
    .requiredOption('--account <id>', 'account that it belongs to')
    .requiredOption('--provider <name>', 'samsara, motive, terminal, otapi, geotab or another')
    .option('--name <name>', 'name of the connection')
    .option('--tsp <name>', "provider's name in deliveries, for a provider that is not built in")
    .option(
      '--incident-types <file>',
      "JSON file that maps the provider's terms to normalised incident types",
    )
    .option('--credential <text>', 'pull from the provider with this credential; - reads it from stdin')
    .option('--base-url <url>', "address of the provider's API, or the name of a region: eu, ca")
    .option('--history-days <days>', 'days of history to load first (90)', Number)
    .action(async ({ account: id, provider, name, tsp, incidentTypes, ...pull }, command) => {
      const body = {
        provider,
        name,
        tSP: tsp,
        incidentTypeMap: incidentTypes && readJson(incidentTypes),
        credential: pull.credential && (await secretFrom(pull.credential)),
        baseUrl: pull.baseUrl,
        historyDays: pull.historyDays,
      };
      show(command, await operatorFor(command).post('/accounts/:id/connections', { id, body }), columns);
    });

  connection
    .command('update')
    .description('change a connection')
    .argument('<id>', 'id of the connection')
    .option('--name <name>', 'name of the connection')
    .option('--tsp <name>', "provider's name in deliveries")
    .option('--health <status>', 'health status: 1 healthy, 2 warning, 3 unavailable or 4 degraded', Number)
    .option(
      '--incident-types <file>',
      "JSON file that maps the provider's terms to normalised incident types",
    )
    .action(async (id, { name, tsp, health, incidentTypes }, command) => {
      const map = incidentTypes && readJson(incidentTypes);
      const body = { name, tSP: tsp, healthStatus: health, incidentTypeMap: map };
      show(command, await operatorFor(command).patch('/connections/:id', { id, body }), columns);
    });

  connection
    .command('rename')
    .description('rename a connection')
    .argument('<id>', 'id of the connection')
    .argument('<name>', 'its new name')
    .action(async (id, name, _, command) =>
      show(command, await operatorFor(command).patch('/connections/:id', { id, body: { name } }), columns),
    );

  connection
    .command('list')
    .description('list the connections of an account')
    .requiredOption('--account <id>', 'account to list')
    .action(async ({ account: id }, command) =>
      show(command, await operatorFor(command).list('/accounts/:id/connections', { id }), columns),
    );

  connection
    .command('repair-archive')
    .description('compare a day of the archive with its files, and repair its catalog with --apply')
    .argument('<id>', 'id of the connection')
    .requiredOption('--kind <kind>', 'trips, safety-events or accidents')
    .requiredOption('--date <date>', 'day, UTC, as in the key of the file: 2026-05-31')
    .option('--apply', 'have the catalog name the files that are there')
    .action(async (id, body, command) => {
      const found = await operatorFor(command).post('/connections/:id/archive/repair', { id, body });
      const inWords = ({ files, records }: { files: number; records: number }) =>
        `${files} files, ${records} records`;
      show(command, found, ['catalog', 'bucket', 'applied'], ({ catalog, bucket, applied }) => ({
        catalog: inWords(catalog),
        bucket: inWords(bucket),
        applied,
      }));
    });

  for (const command of pullCommands()) connection.addCommand(command);
  return connection.addCommand(deleteConnectionCommand());
}

function readJson(file: string) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ApiError(`Cannot read ${file} as JSON: ${error instanceof Error ? error.message : error}`);
  }
}
