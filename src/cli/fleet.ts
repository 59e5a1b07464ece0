import { Command } from 'commander';
import {
  findDeliveriesCommand,
  listDeliveriesCommand,
} from '../extras/delivery-log/commands/follow.ts';
import { replayCommand } from '../extras/delivery-log/commands/replay.ts';
import { exportCommand } from '../extras/exports/commands.ts';
import { whyCommand } from '../extras/why/commands.ts';
import { generateCommand } from './demo/synthetic-fleet.ts';
import { ApiError } from './operate/client.ts';
import {
  deleteAccountCommand,
  deleteConnectionCommand,
  eraseDriverCommand,
} from './operate/delete.ts';
import { type Derived, derived } from './operate/derive.ts';
import { importCommand } from './operate/import.ts';
import { moveAccountCommand } from './operate/move.ts';
import { auditCommand, removeUserCommand } from './operate/people.ts';
import { printable } from './operate/print.ts';
import { listCellsCommand, statusCommand } from './operate/status.ts';
import { useProxy } from './project/proxy.ts';

/** Commands by what they are about: those that make one call, and those that do more. */
const groups: { [name: string]: [about: string, commands: (Derived | (() => Command))[]] } = {
  account: [
    'Manage accounts: the customers of the service',
    [
      ['create <name>', 'POST /accounts'],
      ['list', 'GET /accounts'],
      ['rename <name>', 'PATCH /accounts/:id', {}, 'Rename an account'],
      ['update', 'PATCH /accounts/:id'],
      ['suspend', 'PATCH /accounts/:id', { status: 'suspended' }, 'Suspend an account'],
      [
        'activate',
        'PATCH /accounts/:id',
        { status: 'active' },
        'Activate an account, and cancel its deletion',
      ],
      ['single-sign-on-off', 'POST /accounts/:id/single-sign-on/off'],
      moveAccountCommand,
      deleteAccountCommand,
    ],
  ],
  cell: ['Show how full the cells are', [listCellsCommand]],
  connection: [
    'Manage connections: the data sources of an account',
    [
      ['create', 'POST /accounts/:id/connections'],
      ['list', 'GET /accounts/:id/connections'],
      ['update', 'PATCH /connections/:id'],
      ['rename <name>', 'PATCH /connections/:id', {}, 'Rename a connection'],
      ['status', 'GET /connections/:id/pull'],
      ['pause', 'POST /connections/:id/pause'],
      ['resume', 'POST /connections/:id/resume'],
      ['pull', 'POST /connections/:id/pull'],
      ['credential', 'PUT /connections/:id/credential'],
      ['webhook-secret', 'PUT /connections/:id/webhook-secret'],
      ['repair-archive', 'POST /connections/:id/archive/repair'],
      deleteConnectionCommand,
    ],
  ],
  'connect-link': [
    'Manage links by which somebody outside the account connects a provider',
    [
      ['create', 'POST /accounts/:id/connect-links'],
      ['list', 'GET /accounts/:id/connect-links'],
      ['revoke', 'DELETE /connect-links/:id'],
    ],
  ],
  vehicle: ['Set the external ids of vehicles', [['update', 'PATCH /vehicles/:id']]],
  token: [
    'Manage API tokens and ingest keys',
    [
      ['issue', 'POST /accounts/:id/tokens'],
      ['list', 'GET /accounts/:id/tokens'],
      ['revoke', 'DELETE /tokens/:id'],
    ],
  ],
  'ingest-key': ['Issue ingest keys', [['issue', 'POST /connections/:id/ingest-keys']]],
  user: [
    'Manage the users of an account, who sign in to the portal',
    [
      ['add <email>', 'POST /accounts/:id/users'],
      ['list', 'GET /accounts/:id/users'],
      removeUserCommand,
    ],
  ],
  portal: ["Look at a customer's portal", [['look', 'POST /accounts/:id/looks']]],
  webhook: [
    'List, limit and pause the webhooks of an account',
    [
      ['list', 'GET /accounts/:id/webhooks'],
      ['limit', 'PATCH /webhooks/:id/limits'],
      ['pause', 'POST /webhooks/:id/pause'],
      ['resume', 'POST /webhooks/:id/resume'],
    ],
  ],
  channel: [
    'Manage team channels: where an account is notified in Slack, Teams or by HTTPS',
    [
      ['add', 'POST /accounts/:id/channels'],
      ['list', 'GET /accounts/:id/channels'],
      ['test', 'POST /channels/:id/test'],
      ['remove', 'DELETE /channels/:id'],
    ],
  ],
  delivery: [
    'Follow deliveries, send them now, and replay them',
    [
      listDeliveriesCommand,
      findDeliveriesCommand,
      ['show', 'GET /deliveries/:id'],
      ['send', 'POST /deliveries/:id/send'],
      replayCommand,
    ],
  ],
  driver: ['Erase the data of a driver', [eraseDriverCommand]],
  deletion: ['Show deletions that are scheduled or under way', [['list', 'GET /deletions']]],
};

export function fleetCommand(): Command {
  const fleet = new Command('fleet')
    .description("The operator's tool for the Fleet Data Service.")
    .option('--url <url>', 'URL of the service (default: the one that npm start runs here)')
    .option(
      '--cell <name>',
      'cell to use, if the service has several (default: FLEET_CELL, otherwise as needed)',
    )
    .option('--json', 'print JSON instead of tables')
    .addHelpText(
      'after',
      '\nFor a deployed service, set FLEET_OPERATOR_KEY to its OPERATOR_KEY, and FLEET_URL or --url to its URL. If it has ' +
        'several cells, set one key for each, such as FLEET_OPERATOR_KEY_EU. The file .local/deploy/fleet.env can hold them.',
    );
  for (const [name, [about, commands]] of Object.entries(groups)) {
    const group = new Command(name).description(about);
    for (const one of commands)
      group.addCommand(typeof one === 'function' ? one() : derived(name, one));
    fleet.addCommand(group);
  }
  return fleet
    .addCommand(derived('', ['sign-in-link <email>', 'POST /sign-in-links']))
    .addCommand(auditCommand())
    .addCommand(statusCommand())
    .addCommand(whyCommand())
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(generateCommand());
}

/** Runs the tool. Refusals and files that cannot be read or written are one line each. */
export async function runFleet(command: Command, args: string[]): Promise<void> {
  const { npm_lifecycle_event: script, npm_config_loglevel: level } = process.env;
  if (script === 'fleet' && level !== 'silent' && !process.stdout.isTTY)
    console.error(
      'fleet: npm has written two lines before this output; npm run -s fleet writes none',
    );
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof ApiError || (error instanceof Error && 'syscall' in error))) throw error;
    console.error(`fleet: ${printable(error.message)}`);
    process.exitCode = 1;
  }
}

if (import.meta.main) {
  useProxy();
  await runFleet(fleetCommand(), process.argv.slice(2));
}
