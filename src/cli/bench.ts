import { Command } from 'commander';
import { benchAll } from './bench/all.ts';
import { benchArchive } from './bench/archive.ts';
import { benchCurve } from './bench/curve.ts';
import { benchDistance } from './bench/distance.ts';
import { benchHomes } from './bench/homes.ts';
import { benchIsolation } from './bench/isolation.ts';
import { benchLists } from './bench/lists.ts';
import { benchNeighbours } from './bench/neighbours.ts';
import { benchPulls } from './bench/pulls.ts';
import { benchReceivers } from './bench/receivers.ts';
import { machine } from './bench/report.ts';

const program = new Command('npm run bench --')
  .description(
    'Measures the service on this machine, side by side with the least code that could do the same job.',
  )
  .option('--json', 'print one line of JSON per table')
  .option('--small', 'use a hundredth of the data, to check that it all works');

program
  .command('all', { isDefault: true })
  .description('requests, ingest, deliveries and start-up against targets, in some five minutes')
  .option('--strict', 'exit with 1 when a target is missed; needs a quiet machine')
  .action(async ({ strict }, command: Command) => {
    const { json, small } = asked(command);
    const met = await benchAll(
      json,
      small
        ? { rounds: 1, requests: 50, calls: 2, waiting: 500, samples: 5, starts: 1 }
        : { rounds: 5, requests: 1500, calls: 6, waiting: 5000, samples: 20, starts: 5 },
    );
    if (strict && !met) process.exitCode = 1;
  });

program
  .command('lists')
  .description('rows that pages of big tables read, and the speed of imports')
  .action(async (_, command: Command) => {
    const { json, small } = asked(command);
    if (!json) console.log(machine());
    await benchLists(
      json,
      small
        ? { events: 20_000, trips: 4000, imported: 2000 }
        : { events: 1_000_000, trips: 200_000, imported: 100_000 },
    );
  });

program
  .command('archive')
  .description('archiving 400 days of safety events, and pages of them before and after, in an hour or so')
  .action(async (_, command: Command) => {
    const { json, small } = asked(command);
    if (!json) console.log(machine());
    await benchArchive(
      json,
      small
        ? { events: 4000, days: 200, accounts: 2, pages: 5 }
        : { events: 3_000_000, days: 400, accounts: 20, pages: 200 },
    );
  });

program
  .command('pulls')
  .description('how soon events at a provider are told when 1,000 connections are pulled, in ten minutes')
  .action(async (_, command: Command) => {
    const { json, small } = asked(command);
    await benchPulls(
      json,
      small
        ? { connections: 10, minutes: 0.1, everyMs: 1000, latencyMs: 50 }
        : { connections: 1000, minutes: 4, everyMs: 200, latencyMs: 200 },
    );
  });

program
  .command('isolation')
  .description('how receivers that hang affect the delivery times of others, in six minutes')
  .action(async (_, command: Command) => {
    const { json, small } = asked(command);
    if (!json) console.log(machine());
    await benchIsolation(
      json,
      small
        ? { healthy: 10, repeats: 1, rounds: 5, everyMs: 200 }
        : { healthy: 50, repeats: 3, rounds: 60, everyMs: 250 },
    );
  });

program
  .command('homes')
  .description('ingest and deliveries with the same work in 1, 2 and 4 homes, in five minutes')
  .action(async (_, command: Command) => {
    const { json, small } = asked(command);
    if (!json) console.log(machine());
    await benchHomes(
      json,
      small
        ? { homes: [1, 2], calls: 4, eventsPerCall: 10 }
        : { homes: [1, 2, 4], calls: 16, eventsPerCall: 250 },
    );
  });

program
  .command('distance')
  .description('pages and first calls over simulated distances, with and without replicas, in ten minutes')
  .option('--strict', 'exit with 1 when the bar is missed')
  .action(async ({ strict }, command: Command) => {
    const { json, small } = asked(command);
    const met = await benchDistance(
      json,
      small
        ? { clients: ['Sydney'], pages: 5, firstCalls: 2, rounds: 1 }
        : { clients: ['Frankfurt', 'Virginia', 'Sydney'], pages: 100, firstCalls: 25, rounds: 2 },
    );
    if (strict && !met) process.exitCode = 1;
  });

program
  .command('curve')
  .description('cost of a delivery with many webhooks and with a big delivery log, in a few minutes')
  .action(async (_, command: Command) => {
    const { json, small } = asked(command);
    await benchCurve(
      json,
      small
        ? { webhooks: [1, 10], rows: [1000, 10_000], deliveries: 200, rounds: 1, minutes: 2 }
        : {
            webhooks: [1, 10, 100, 1000],
            rows: [10_000, 100_000, 1_000_000],
            deliveries: 2000,
            rounds: 5,
            minutes: 10,
          },
    );
  });

program
  .command('neighbours')
  .description('what a well-behaved account notices of others that are not, in some ten minutes')
  .option('--strict', 'exit with 1 when a bar is missed; needs a quiet machine')
  .option('--only <words>', 'only the attacks whose names contain these words')
  .action(async ({ strict, only }, command: Command) => {
    const { json, small } = asked(command);
    const met = await benchNeighbours(
      json,
      small
        ? {
            only,
            freshStacks: false,
            seconds: 0.5,
            webhooks: 5,
            eventsPerCall: 20,
            floodCalls: 2,
          }
        : {
            only,
            freshStacks: true,
            seconds: 30,
            webhooks: 1000,
            eventsPerCall: 500,
            floodCalls: 100,
          },
    );
    if (strict && !met) process.exitCode = 1;
  });

program
  .command('receivers')
  .description(
    'deliveries to receivers that wait before they answer, and what a backlog delays, in ten minutes',
  )
  .option('--strict', 'exit with 1 when a bar is missed; needs a quiet machine')
  .action(async ({ strict }, command: Command) => {
    const { json, small } = asked(command);
    const met = await benchReceivers(
      json,
      small
        ? {
            cases: [
              { webhooks: 1, ms: 100, deliveries: 100, required: 0 },
              { webhooks: 5, ms: 300, deliveries: 100, required: 0 },
            ],
            backlog: { waiting: 200, slowMs: 300, accidents: 3, everyMs: 50, due: 400 },
          }
        : {
            cases: [
              { webhooks: 4, ms: 0, deliveries: 5000, required: 1053 },
              { webhooks: 1, ms: 0, deliveries: 5000, required: 842 },
              { webhooks: 1, ms: 100, deliveries: 5000, required: 300 },
              { webhooks: 1, ms: 1000, deliveries: 3000, required: 45 },
              { webhooks: 20, ms: 100, deliveries: 10_000, required: 800 },
              { webhooks: 20, ms: 1000, deliveries: 8000, required: 400 },
              { webhooks: 50, ms: 300, deliveries: 10_000, required: 600 },
            ],
            backlog: { waiting: 20_000, slowMs: 2000, accidents: 100, everyMs: 100, due: 100_000 },
          },
    );
    if (strict && !met) process.exitCode = 1;
  });

await program.parseAsync();

/** How a benchmark was asked for. */
function asked(command: Command): { json: boolean; small: boolean } {
  const { json = false, small = false } = command.optsWithGlobals<{ json?: boolean; small?: boolean }>();
  return { json, small };
}
