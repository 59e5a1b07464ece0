import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { operatorFor } from './context.ts';
import { printable } from './printable.ts';
import { replayCommand } from './replay.ts';
import { show } from './table.ts';

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
  const deliveries = new Command('deliveries').description('follow deliveries, and replay them');

  deliveries
    .command('list')
    .description("list a webhook's deliveries, newest first")
    .requiredOption('--webhook <id>', 'webhook to list; fleet webhook list shows the ids')
    .option('--status <status>', 'only those that are pending, delivered, failed or cancelled')
    .option('--since <time>', 'only those since a time, such as 2026-11-20T00:00:00Z')
    .option('--limit <count>', 'number of deliveries, at most 500', '50')
    .option('--follow', 'keep running, and print each delivery as it changes')
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
    .description('show a delivery with all of its attempts')
    .argument('<id>', 'Delivery-Id of the delivery')
    .action(async (id, _, command) => {
      const found = await operatorFor(command).get<Delivery>(`/deliveries/${encodeURIComponent(id)}`);
      if (command.optsWithGlobals().json) return show(command, found, []);
      show(command, withLast(found), [...columns, 'requestId']);
      show(command, found.log, ['at', 'result', 'status', 'durationMs', 'answer']);
    });

  return deliveries.addCommand(replayCommand());
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
      if (seen.get(id) !== state) console.log(printable(`${id}  type ${type}  ${state}`));
      seen.set(id, state);
    }
    await wait(1000);
  }
}
