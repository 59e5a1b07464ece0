import { Command } from 'commander';
import type { WebhookHealth } from '../../operator/api/webhooks.ts';
import { operatorFor } from './context.ts';
import { show } from './print.ts';

/** fleet webhook … */
export function webhookCommands(): Command {
  const webhook = new Command('webhook').description(
    'look at the webhooks of an account, limit their calls, and pause them',
  );

  webhook
    .command('list')
    .description('list the webhooks of an account, with the health and the limits of their receivers')
    .requiredOption('--account <id>', 'account to list')
    .action(async ({ account: id }, command) =>
      showWebhooks(command, await operatorFor(command).get('/accounts/:id/webhooks', { id })),
    );

  webhook
    .command('limit')
    .description('limit the calls to a receiver; a limit that is not given stays as it is')
    .argument('<id>', 'id of the webhook; fleet webhook list shows it')
    .option('--in-flight <calls>', 'calls at a time, 1 to 50', wholeNumber)
    .option('--per-second <calls>', 'calls a second, 1 to 1000', wholeNumber)
    .option('--default', 'take both limits away')
    .action(async (id, { inFlight, perSecond, default: none }, command: Command) => {
      const body = none
        ? { maxInFlight: null, maxPerSecond: null }
        : { maxInFlight: inFlight, maxPerSecond: perSecond };
      const isGiven = inFlight !== undefined || perSecond !== undefined;
      if (isGiven === Boolean(none))
        command.error('error: give --in-flight, --per-second or both, or --default');
      showWebhooks(command, await operatorFor(command).patch('/webhooks/:id/limits', { id, body }));
    });

  for (const [name, call, does] of [
    ['pause', '/webhooks/:id/pause', 'stop sending to a webhook: what is for it waits for up to five days'],
    ['resume', '/webhooks/:id/resume', 'send to a paused webhook again, accidents first'],
  ] as const)
    webhook
      .command(name)
      .description(does)
      .argument('<id>', 'id of the webhook; fleet webhook list shows it')
      .action(async (id, _, command: Command) =>
        showWebhooks(command, await operatorFor(command).post(call, { id })),
      );

  return webhook;
}

/** What is no whole number goes to the service as it is, which says what it must be: JSON would make it null. */
const wholeNumber = (text: string): number | string => (/^\d{1,9}$/.test(text) ? Number(text) : text);

function showWebhooks(command: Command, found: WebhookHealth | WebhookHealth[]): void {
  const columns = ['id', 'url', 'failures', 'openUntil', 'limit', 'now'];
  for (const option of ['filters', 'pausedAt'] as const)
    if ([found].flat().some((webhook) => webhook[option])) columns.push(option);
  show(command, found, columns, (webhook) => ({
    ...webhook,
    limit: limitOf(webhook),
    now: webhook.window,
    filters: webhook.filters && JSON.stringify(webhook.filters),
  }));
}

/** How many calls a receiver gets at most, in words. */
function limitOf({ maxInFlight, maxPerSecond }: WebhookHealth): string {
  return `${maxInFlight ?? 'up to 50'} at a time${maxPerSecond ? `, ${maxPerSecond} a second` : ''}`;
}
