import { Command } from 'commander';
import { operatorFor } from './context.ts';
import { show } from './table.ts';

type Webhook = {
  id: string;
  url: string;
  failures: number;
  openUntil: string | null;
  maxInFlight: number | null;
  maxPerSecond: number | null;
  window: number;
};

/** fleet webhook … */
export function webhookCommands(): Command {
  const webhook = new Command('webhook').description(
    'look at the webhooks of an account, and limit their calls',
  );

  webhook
    .command('list')
    .description('list the webhooks of an account, with the health and the limits of their receivers')
    .requiredOption('--account <id>', 'account to list')
    .action(async ({ account }, command) => {
      const path = `/accounts/${encodeURIComponent(account)}/webhooks`;
      showWebhooks(command, await operatorFor(command).get<Webhook[]>(path));
    });

  webhook
    .command('limit')
    .description('limit the calls to a receiver; a limit that is not given stays as it is')
    .argument('<id>', 'id of the webhook; fleet webhook list shows it')
    .option('--in-flight <calls>', 'calls at a time, 1 to 50', wholeNumber)
    .option('--per-second <calls>', 'calls a second, 1 to 1000', wholeNumber)
    .option('--default', 'take both limits away')
    .action(async (id, { inFlight, perSecond, default: none }, command: Command) => {
      const limits = none
        ? { maxInFlight: null, maxPerSecond: null }
        : { maxInFlight: inFlight, maxPerSecond: perSecond };
      const isGiven = inFlight !== undefined || perSecond !== undefined;
      if (isGiven === Boolean(none))
        command.error('error: give --in-flight, --per-second or both, or --default');
      const path = `/webhooks/${encodeURIComponent(id)}/limits`;
      showWebhooks(command, await operatorFor(command).patch<Webhook>(path, limits));
    });

  return webhook;
}

/** What is no whole number goes to the service as it is, which says what it must be: JSON would make it null. */
const wholeNumber = (text: string): number | string => (/^\d{1,9}$/.test(text) ? Number(text) : text);

function showWebhooks(command: Command, found: Webhook | Webhook[]): void {
  const { json } = command.optsWithGlobals();
  const rows = [found]
    .flat()
    .map((webhook) => ({ ...webhook, limit: limitOf(webhook), now: webhook.window }));
  show(command, json ? found : rows, ['id', 'url', 'failures', 'openUntil', 'limit', 'now']);
}

/** How many calls a receiver gets at most, in words. */
function limitOf({ maxInFlight, maxPerSecond }: Webhook): string {
  return `${maxInFlight ?? 'up to 50'} at a time${maxPerSecond ? `, ${maxPerSecond} a second` : ''}`;
}
