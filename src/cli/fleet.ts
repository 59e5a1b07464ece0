import { Command } from 'commander';
import {
  accountCommands,
  auditCommand,
  homeCommands,
  signInLinkCommand,
  userCommands,
} from './operate/accounts.ts';
import { channelCommands } from './operate/channels.ts';
import { ApiError } from './operate/client.ts';
import { connectionCommands, connectLinkCommands, vehicleCommands } from './operate/connections.ts';
import { deletionCommands, driverCommands } from './operate/delete.ts';
import { deliveryCommands } from './operate/deliveries.ts';
import { exportCommand } from './operate/export.ts';
import { importCommand } from './operate/import.ts';
import { printable } from './operate/print.ts';
import { statusCommand } from './operate/status.ts';
import { generateCommand } from './operate/synthetic-fleet.ts';
import { ingestKeyCommands, tokenCommands } from './operate/tokens.ts';
import { webhookCommands } from './operate/webhooks.ts';

export const fleetCommand = (): Command =>
  new Command('fleet')
    .description("The operator's tool for the Fleet Data Service.")
    .option('--url <url>', 'URL of the service (default: the one that npm start runs here)')
    .option('--json', 'print JSON instead of tables')
    .addHelpText(
      'after',
      '\nFor a deployed service, set FLEET_OPERATOR_KEY to its OPERATOR_KEY, and FLEET_URL or --url to its URL.',
    )
    .addCommand(accountCommands())
    .addCommand(homeCommands())
    .addCommand(connectionCommands())
    .addCommand(connectLinkCommands())
    .addCommand(vehicleCommands())
    .addCommand(tokenCommands())
    .addCommand(ingestKeyCommands())
    .addCommand(userCommands())
    .addCommand(signInLinkCommand())
    .addCommand(webhookCommands())
    .addCommand(channelCommands())
    .addCommand(deliveryCommands())
    .addCommand(driverCommands())
    .addCommand(deletionCommands())
    .addCommand(auditCommand())
    .addCommand(statusCommand())
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(generateCommand());

/** Runs the tool. Refusals are printed in one line. */
export async function runFleet(command: Command, args: string[]): Promise<void> {
  const { npm_lifecycle_event: script, npm_config_loglevel: level } = process.env;
  if (script === 'fleet' && level !== 'silent' && !process.stdout.isTTY)
    console.error('fleet: npm has written two lines before this output; npm run -s fleet writes none');
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.error(`fleet: ${printable(error.message)}`);
    process.exitCode = 1;
  }
}

if (import.meta.main) await runFleet(fleetCommand(), process.argv.slice(2));
