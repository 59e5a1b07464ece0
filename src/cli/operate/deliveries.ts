import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Delivery } from '../../operator/api/webhooks.ts';
import { operatorFor } from './context.ts';
import { print, printable, rowsOf, show } from './print.ts';
import { replayCommand } from './replay.ts';

const columns = ['id', 'type', 'level', 'status', 'attempts', 'nextAttemptAt', 'last'];

/** fleet delivery … */
export function deliveryCommands(): Command {
  const delivery = new Command('delivery').description('follow deliveries, send them now, and replay them');

  delivery
    .command('list')
    .description("list a webhook's deliveries, newest first")
    .requiredOption('--webhook <id>', 'webhook to list; fleet webhook list shows the ids')
    .option('--status <status>', 'only those that are pending, delivered, failed or cancelled')
    .option('--since <time>', 'only those since a time, such as 2026-11-20T00:00:00Z')
    .option('--limit <count>', 'number of deliveries, at most 500', '50')
    .option('--follow', 'keep running, and print each delivery as it changes')
    .action(async ({ webhook, status, since, limit, follow }, command) => {
      const query = { webhookId: webhook, status, since, limit };
      const list = () => operatorFor(command).get('/deliveries', { query });
      const found = await list();
      if (!follow) return show(command, found.map(withLast), columns);
      await watch(found, list);
    });

  delivery
    .command('find')
    .description('find deliveries of all accounts by an event or accident, or by a VIN')
    .option('--event <id>', 'the eventId that the customer has')
    .option('--vin <vin>', 'its latest events and accidents of 30 days')
    .action(async ({ event: eventId, vin }, command) => {
      const found = await operatorFor(command).get('/deliveries/find', { query: { eventId, vin } });
      show(command, found, ['account', 'createdAt', 'eventId', 'level', 'id', 'status', 'attempts']);
    });

  delivery
    .command('show')
    .description('show a delivery with all of its attempts')
    .argument('<id>', 'Delivery-Id of the delivery')
    .action(async (id, _, command) => {
      const found = await operatorFor(command).get('/deliveries/:id', { id });
      print(command, found, () =>
        [
          rowsOf([withLast(found)], [...columns, 'requestId']),
          rowsOf(found.log, ['at', 'result', 'status', 'durationMs', 'answer']),
        ].join('\n'),
      );
    });

  delivery
    .command('send')
    .description('send a pending delivery now, ignoring any wait')
    .argument('<id>', 'Delivery-Id of the delivery')
    .action(async (id, _, command) => {
      const sent = await operatorFor(command).post('/deliveries/:id/send', { id });
      show(command, withLast(sent), columns);
    });

  return delivery.addCommand(replayCommand());
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
