import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { ApiError } from './client.ts';
import { operatorFor, show } from './context.ts';

const columns = ['id', 'name', 'provider', 'tSP', 'healthStatus', 'createdAt'];

/** fleet connection … */
export function connectionCommands(): Command {
  const connection = new Command('connection').description('data sources of an account');

  connection
    .command('create')
    .description('add a data source to an account')
    .requiredOption('--account <id>', 'whose it is')
    .requiredOption('--provider <word>', 'samsara, motive, terminal, otapi, geotab or another')
    .option('--name <name>', 'what its people call it')
    .option('--tsp <name>', "the provider's name as deliveries tell it, when it is no known one")
    .option('--incident-types <file>', "a JSON file: the provider's words, each with its normalised types")
    .action(async ({ account, provider, name, tsp, incidentTypes }, command) => {
      const body = { provider, name, tSP: tsp, incidentTypeMap: incidentTypes && readJson(incidentTypes) };
      const path = `/accounts/${encodeURIComponent(account)}/connections`;
      show(command, await operatorFor(command).post(path, body), columns);
    });

  connection
    .command('update')
    .description('change a data source')
    .argument('<id>', "the connection's id")
    .option('--name <name>', 'what its people call it')
    .option('--tsp <name>', "the provider's name as deliveries tell it")
    .option('--health <status>', '1 healthy, 2 warning, 3 unavailable or 4 degraded', Number)
    .option('--incident-types <file>', "a JSON file: the provider's words, each with its normalised types")
    .action(async (id, { name, tsp, health, incidentTypes }, command) => {
      const map = incidentTypes && readJson(incidentTypes);
      const body = { name, tSP: tsp, healthStatus: health, incidentTypeMap: map };
      const path = `/connections/${encodeURIComponent(id)}`;
      show(command, await operatorFor(command).patch(path, body), columns);
    });

  connection
    .command('list')
    .description('list the data sources of an account')
    .requiredOption('--account <id>', 'whose')
    .action(async ({ account }, command) => {
      const path = `/accounts/${encodeURIComponent(account)}/connections`;
      show(command, await operatorFor(command).get(path), columns);
    });

  return connection;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ApiError(`Cannot read ${file} as JSON: ${error instanceof Error ? error.message : error}`);
  }
}
