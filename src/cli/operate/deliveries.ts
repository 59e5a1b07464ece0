import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { operatorFor, show } from './context.ts';

type Entry = { at: string; result: string; status?: number; durationMs: number; answer?: string };
type Delivery = {
  id: string;
  status: string;
  attempts: number;
  type: number;
  level: number;
  requestId: string | null;
  log: Entry[];
};

const columns = ['id', 'type', 'level', 'status', 'attempts', 'nextAttemptAt', 'last'];

/** fleet deliveries … */
export function deliveryCommands(): Command {
  const deliveries = new Command('deliveries').description('what became of notifications');

  deliveries
    .command('list')
    .description("list a webhook's deliveries, newest first")
    .requiredOption('--webhook <id>', 'whose; fleet webhook list shows the ids')
    .option('--status <status>', 'pending, delivered, failed or cancelled')
    .option('--since <time>', 'those since a time, as in 2026-11-20T00:00:00Z')
    .option('--limit <count>', 'how many, at most 500', '50')
    .option('--follow', 'go on, and show each as it changes')
    .action(async ({ webhook, status, since, limit, follow }, command) => {
      const query = new URLSearchParams({ webhookId: webhook, limit });
      if (status) query.set('status', status);
      if (since) query.set('since', since);
      const list = () => operatorFor(command).get<Delivery[]>(`/deliveries?${query}`);
      const found = await list();
      if (!follow) return show(command, found.map(withLast), columns);
      await watch(found, list);
    });

  deliveries
    .command('show')
    .description('show one delivery with each of its attempts')
    .argument('<id>', 'its Delivery-Id')
    .action(async (id, _, command) => {
      const found = await operatorFor(command).get<Delivery>(`/deliveries/${encodeURIComponent(id)}`);
      if (command.optsWithGlobals().json) return show(command, found, []);
      show(command, withLast(found), [...columns, 'requestId']);
      show(command, found.log, ['at', 'result', 'status', 'durationMs', 'answer']);
    });

  deliveries
    .command('replay')
    .description('send failed deliveries again, with a fresh schedule')
    .argument('[id]', 'one, by its Delivery-Id')
    .option('--webhook <id>', 'all failed ones of a webhook')
    .option('--since <time>', 'of these, those since a time')
    .option('--until <time>', 'of these, those before a time')
    .action(async (id, { webhook, since, until }, command: Command) => {
      if (!id === !webhook) command.error('error: name either a delivery or --webhook');
      const operator = operatorFor(command);
      const result = id
        ? await operator.post<object>(`/deliveries/${encodeURIComponent(id)}/replay`, {})
        : await operator.post<object>(`/webhooks/${encodeURIComponent(webhook)}/replay`, { since, until });
      show(command, result, ['replayed', 'more']);
    });

  return deliveries;
}

/** fleet webhook … */
export function webhookCommands(): Command {
  const webhook = new Command('webhook').description('what accounts have registered');
  webhook
    .command('list')
    .description("list an account's webhooks with the health of their receivers")
    .requiredOption('--account <id>', 'whose')
    .action(async ({ account }, command) => {
      const path = `/accounts/${encodeURIComponent(account)}/webhooks`;
      show(command, await operatorFor(command).get(path), ['id', 'url', 'failures', 'openUntil']);
    });
  return webhook;
}

const withLast = (delivery: Delivery) => {
  const last = delivery.log.at(-1);
  return { ...delivery, last: last && [last.result, last.status].filter(Boolean).join(' ') };
};

async function watch(found: Delivery[], list: () => Promise<Delivery[]>): Promise<never> {
  const seen = new Map<string, string>();
  for (let deliveries = found; ; deliveries = await list()) {
    for (const delivery of deliveries.toReversed()) {
      const { id, type, status, attempts, last } = withLast(delivery);
      const state = `${status}  attempt ${attempts}  ${last ?? ''}`;
      if (seen.get(id) !== state) console.log(`${id}  type ${type}  ${state}`);
      seen.set(id, state);
    }
    await wait(1000);
  }
}
