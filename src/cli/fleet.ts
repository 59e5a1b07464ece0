import { Command } from 'commander';
import { generateCommand } from './demo/synthetic-fleet.ts';
import * as extras from './extras.ts';
import { ApiError } from './operate/client.ts';
import { groups } from './operate/commands.ts';
import { printable } from './operate/print.ts';
import { useProxy } from './project/proxy.ts';

export function fleetCommand(): Command {
  const fleet = new Command('fleet')
    .description("The operator's tool for the Fleet Data Service.")
    .option('--url <url>', 'URL of the service (default: the one that npm start runs here)')
    .option(
      '--cell <name>',
      'cell to use, if the service has several (default: FLEET_CELL, otherwise as needed)',
    )
    .option('--json', 'print JSON instead of tables')
    .addHelpText(
      'after',
      '\nFor a deployed service, set FLEET_OPERATOR_KEY to its OPERATOR_KEY, and FLEET_URL or --url to its URL. If it has ' +
        'several cells, set one key for each, such as FLEET_OPERATOR_KEY_EU. The file .local/deploy/fleet.env can hold them.',
    );
  const groupOf = (name: string): Command =>
    name === ''
      ? fleet
      : (fleet.commands.find((one) => one.name() === name) ?? fleet.command(name));
  for (const some of [groups, ...Object.values<extras.Groups>(extras)])
    for (const [name, { about, commands }] of Object.entries(some)) {
      const group = groupOf(name);
      if (about) group.description(about);
      for (const make of commands) group.addCommand(make(name));
    }
  return fleet.addCommand(generateCommand());
}

/** Runs the tool. Refusals and files that cannot be read or written are one line each. */
export async function runFleet(command: Command, args: string[]): Promise<void> {
  const { npm_lifecycle_event: script, npm_config_loglevel: level } = process.env;
  if (script === 'fleet' && level !== 'silent' && !process.stdout.isTTY)
    console.error(
      'fleet: npm has written two lines before this output; npm run -s fleet writes none',
    );
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof ApiError || (error instanceof Error && 'syscall' in error))) throw error;
    console.error(`fleet: ${printable(error.message)}`);
    process.exitCode = 1;
  }
}

if (import.meta.main) {
  useProxy();
  await runFleet(fleetCommand(), process.argv.slice(2));
}
