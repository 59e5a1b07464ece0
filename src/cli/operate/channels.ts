import type { Command } from 'commander';
import type { Item } from './client.ts';
import { about, group, within } from './command.ts';
import { secretFrom } from './connections.ts';
import type { Column } from './print.ts';

export const channelCommands = (): Command =>
  group('channel', 'manage team channels: where an account is notified in Slack, Teams or by HTTPS', [
    within(
      'add',
      'add a channel, whose URL is read from stdin',
      'POST /accounts/:id/channels',
      columns,
      async ({ levels: accidentLevels, risk: minEventRisk, alerts: getsAlerts, ...rest }) => ({
        ...{ accidentLevels, minEventRisk, getsAlerts, ...rest },
        url: await secretFrom('-'),
      }),
    )
      .requiredOption('--kind <kind>', 'slack, teams or https')
      .requiredOption('--name <name>', 'name of the channel')
      .option('--no-alerts', 'not of problems with webhooks and connections')
      .option('--levels <levels>', 'of accidents that reach these levels, such as 1,2,3', numbers)
      .option('--risk <risk>', 'of safety events of at least this risk, 1 to 5', Number),
    within('list', 'list the channels of an account', 'GET /accounts/:id/channels', columns),
    about('test', 'send a test message to a channel', 'POST /channels/:id/test', columns),
    about('remove', 'remove a channel, with all that waits for it', 'DELETE /channels/:id', columns),
  ]);

const numbers = (text: string): number[] => text.split(',').map(Number);

const columns: Column<Item<'DELETE /channels/:id'>>[] = [
  'id',
  'kind',
  'name',
  ['url', ({ host, lastFour }) => `${host} …${lastFour}`],
  'getsAlerts',
  'problem',
  'problemAt',
];
