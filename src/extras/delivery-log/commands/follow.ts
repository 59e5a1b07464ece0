import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { InferOutput } from 'valibot';
import { askAll, inOneList, operatorFor } from '../../../cli/operate/cells.ts';
import { insist } from '../../../cli/operate/client.ts';
import { eachAs, printable, show } from '../../../cli/operate/print.ts';
import { resultOf } from '../../../cli/operate/rows.ts';
import { oneMeant } from '../../search/commands.ts';
import type { Delivery, FoundDelivery } from '../operations.ts';
import { aboutOf, webhookIn } from './rows.ts';

export const listDeliveriesCommand = (): Command =>
  new Command('list')
    .description("List a webhook's deliveries, newest first")
    .requiredOption('--webhook <id>', 'webhook to list; fleet webhook list shows the ids')
    .option('--status <status>', 'only those that are pending, delivered, failed or cancelled')
    .option('--since <time>', 'only those since a time, such as 2026-11-20T00:00:00Z')
    .option('--limit <count>', 'number of deliveries, at most 500', '50')
    .option('--follow', 'keep running, and print each delivery as it changes')
    .action(async ({ webhook: webhookId, follow, ...filters }, command) => {
      const query = { webhookId, ...filters };
      const list = () => operatorFor(command).call('GET /deliveries', { query });
      const found = await list();
      if (follow) await watch(found, list);
      else show(command, found, eachAs(listed));
    });

export const findDeliveriesCommand = (): Command =>
  new Command('find')
    .description('Find deliveries of all accounts by an event, an accident, a VIN or a vehicle')
    .option('--event <id>', 'event or accident')
    .option('--vin <vin>', 'vehicle identification number')
    .option('--vehicle <name>', 'vehicle: its name, plate, VIN or id')
    .option('--account <id>', 'account of the vehicle')
    .action(async ({ event, vin, vehicle, account }, command: Command) => {
      const vehicleId = vehicle && (await oneMeant(command, 'vehicle', vehicle, account)).id;
      const query = { eventId: event, vin, vehicleId };
      const found = inOneList(await askAll(command, 'GET /deliveries/find', { query }));
      show(command, found, eachAs(foundRow));
    });

const listed = ({ id, level, status, attempts, log }: Delivery): object => {
  return { id, about: aboutOf(level), status, attempts, lastResult: lastOf(log) };
};

const foundRow = ({
  id,
  account,
  level,
  status,
  last,
  createdAt,
  ...webhook
}: InferOutput<typeof FoundDelivery>): object => ({
  at: last?.at ?? createdAt,
  webhook: webhookIn(webhook),
  account,
  about: aboutOf(level),
  status,
  id,
});

const lastOf = (log: Delivery['log']): string | null => resultOf(log.at(-1) ?? null);

async function watch(found: Delivery[], list: () => Promise<Delivery[]>): Promise<never> {
  const seen = new Map<string, string>();
  for (let deliveries = found; ; ) {
    for (const { id, level, status, attempts, log } of deliveries.toReversed()) {
      const state = `${status}  attempt ${attempts}  ${lastOf(log) ?? ''}`;
      if (seen.get(id) !== state) console.log(printable(`${id}  ${aboutOf(level)}  ${state}`));
      seen.set(id, state);
    }
    await wait(1000);
    deliveries = await insist(Number.POSITIVE_INFINITY, list, 10_000);
  }
}
