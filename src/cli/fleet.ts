import { Command } from 'commander';
import { accountCommands } from './operate/accounts.ts';
import { ApiError } from './operate/client.ts';
import { connectionCommands } from './operate/connections.ts';
import { deliveryCommands, webhookCommands } from './operate/deliveries.ts';
import { generateCommand } from './operate/generate.ts';
import { importCommand } from './operate/import.ts';
import { statusCommand } from './operate/status.ts';
import { tokenCommands } from './operate/tokens.ts';
import { signInLinkCommand, userCommands } from './operate/users.ts';

const program = new Command('fleet')
  .description("The operator's tool of the Fleet Data Service.")
  .option('--url <url>', 'the service to talk to; without it, the one that npm start runs here')
  .option('--json', 'print JSON, for programs')
  .addHelpText(
    'after',
    '\nFor a deployed service, set FLEET_OPERATOR_KEY to its OPERATOR_KEY; --url may be FLEET_URL instead.',
  )
  .addCommand(accountCommands())
  .addCommand(connectionCommands())
  .addCommand(tokenCommands('token'))
  .addCommand(tokenCommands('ingest-key'))
  .addCommand(userCommands())
  .addCommand(signInLinkCommand())
  .addCommand(webhookCommands())
  .addCommand(deliveryCommands())
  .addCommand(statusCommand())
  .addCommand(importCommand())
  .addCommand(generateCommand());

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.error(`fleet: ${error.message}`);
  process.exitCode = 1;
}
