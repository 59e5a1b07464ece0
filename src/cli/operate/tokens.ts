import { Command } from 'commander';
import { operatorFor } from './context.ts';
import { show } from './print.ts';

const columns = [
  'id',
  'name',
  'readOnly',
  'connectionId',
  'lastFour',
  'createdAt',
  'lastUsedAt',
  'expiresAt',
];

const kinds = {
  token: {
    scope: 'api',
    owner: 'account',
    path: '/accounts/:id/tokens',
    singular: 'an API token',
    plural: 'API tokens',
  },
  'ingest-key': {
    scope: 'ingest',
    owner: 'connection',
    path: '/connections/:id/ingest-keys',
    singular: 'an ingest key',
    plural: 'ingest keys',
  },
} as const;

/** fleet token … and fleet ingest-key … */
export function tokenCommands(kind: keyof typeof kinds): Command {
  const { scope, owner, path, singular, plural } = kinds[kind];
  const commands = new Command(kind).description(`manage ${plural}`);

  const issue = commands
    .command('issue')
    .description(`issue ${singular}; its value is shown only once`)
    .requiredOption(`--${owner} <id>`, `${owner} that it gives access to`)
    .requiredOption('--name <name>', 'what it is for')
    .option('--expires <time>', 'when it expires, such as 2027-01-31T00:00:00Z (default: never)')
    .action(async ({ name, expires, readOnly, [owner]: id }, command) => {
      const asked = { id, body: { name, expiresAt: expires, readOnly } };
      const issued = await operatorFor(command).post(path, asked);
      show(command, issued, ['id', 'name', 'value']);
    });
  if (scope === 'api')
    issue.option('--read-only', 'it can only read, and does not see the headers of webhooks');

  commands
    .command('list')
    .description(`list the ${plural} of an account, except revoked ones`)
    .requiredOption('--account <id>', 'account to list')
    .action(async ({ account: id }, command) => {
      const all = await operatorFor(command).list('/accounts/:id/tokens', { id });
      const shown = columns.filter((column) => column !== (scope === 'ingest' ? 'readOnly' : 'connectionId'));
      show(
        command,
        all.filter((token) => token.scope === scope),
        shown,
      );
    });

  commands
    .command('revoke')
    .description(`revoke ${singular}, with immediate effect`)
    .argument('<id>', 'id from the list, not the value')
    .action(async (id, _, command) =>
      show(command, await operatorFor(command).delete('/tokens/:id', { id }), ['id', 'name', 'revokedAt']),
    );

  return commands;
}
