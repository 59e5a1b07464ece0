import { Command } from 'commander';
import { accountCommands } from './commands/accounts.ts';
import { connectionCommands } from './commands/connections.ts';
import { deliveryCommands, webhookCommands } from './commands/deliveries.ts';
import { generateCommand } from './commands/generate.ts';
import { importCommand } from './commands/import.ts';
import { statusCommand } from './commands/status.ts';
import { tokenCommands } from './commands/tokens.ts';
import { signInLinkCommand, userCommands } from './commands/users.ts';
import { ApiError } from './operator.ts';

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
