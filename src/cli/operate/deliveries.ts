import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Delivery } from '../../operator/api/webhooks.ts';
import { calling, group } from './command.ts';
import { operatorFor } from './context.ts';
import { type Column, printable, rowsOf, show } from './print.ts';
import { replayCommand } from './replay.ts';

const columns: Column<ReturnType<typeof withLast>>[] = [
  'id',
  'type',
  'level',
  'status',
  'attempts',
  'nextAttemptAt',
  'last',
];

export const deliveryCommands = (): Command =>
  group('delivery', 'follow deliveries, send them now, and replay them', [
    new Command('list')
      .description("list a webhook's deliveries, newest first")
      .requiredOption('--webhook <id>', 'webhook to list; fleet webhook list shows the ids')
      .option('--status <status>', 'only those that are pending, delivered, failed or cancelled')
      .option('--since <time>', 'only those since a time, such as 2026-11-20T00:00:00Z')
      .option('--limit <count>', 'number of deliveries, at most 500', '50')
      .option('--follow', 'keep running, and print each delivery as it changes')
      .action(async ({ webhook: webhookId, follow, ...filters }, command) => {
        const query = { webhookId, ...filters };
        const list = () => operatorFor(command).call('GET /deliveries', { query });
        const found = await list();
        if (!follow) return show(command, found.map(withLast), columns);
        await watch(found, list);
      }),
    calling(
      'find',
      'find deliveries of all accounts by an event or accident, or by a VIN',
      'GET /deliveries/find',
      ['account', 'createdAt', 'eventId', 'level', 'id', 'status', 'attempts'],
      ({ event: eventId, vin }) => ({ eventId, vin }),
    )
      .option('--event <id>', 'the eventId that the customer has')
      .option('--vin <vin>', 'its latest events and accidents of 30 days'),
    calling('show', 'show a delivery with all of its attempts', 'GET /deliveries/:id', (found) =>
      [
        rowsOf([withLast(found)], [...columns, 'requestId']),
        rowsOf(found.log, ['at', 'result', 'status', 'durationMs', 'answer']),
      ].join('\n'),
    ).argument('<id>', 'Delivery-Id of the delivery'),
    new Command('send')
      .description('send a pending delivery now, ignoring any wait')
      .argument('<id>', 'Delivery-Id of the delivery')
      .action(async (id, _, command) => {
        const sent = await operatorFor(command).call('POST /deliveries/:id/send', { id });
        show(command, withLast(sent), columns);
      }),
    replayCommand(),
  ]);

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
