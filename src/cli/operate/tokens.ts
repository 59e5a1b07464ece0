import { Command } from 'commander';
import { operatorFor } from './context.ts';
import { show } from './table.ts';

const columns = ['id', 'name', 'scope', 'connectionId', 'lastFour', 'createdAt', 'lastUsedAt', 'expiresAt'];
type Token = { scope: string; connectionId: string | null };

const kinds = {
  token: { scope: 'api', owner: 'account', singular: 'an API token', plural: 'API tokens' },
  'ingest-key': {
    scope: 'ingest',
    owner: 'connection',
    singular: 'an ingest key',
    plural: 'ingest keys',
  },
};

/** fleet token … and fleet ingest-key … */
export function tokenCommands(kind: keyof typeof kinds): Command {
  const { scope, owner, singular, plural } = kinds[kind];
  const commands = new Command(kind).description(`manage ${plural}`);

  commands
    .command('issue')
    .description(`issue ${singular}; its value is shown only once`)
    .requiredOption(`--${owner} <id>`, `${owner} that it gives access to`)
    .requiredOption('--name <name>', 'what it is for')
    .option('--expires <time>', 'when it expires, such as 2027-01-31T00:00:00Z (default: never)')
    .action(async ({ name, expires, ...options }, command) => {
      const path =
        kind === 'token'
          ? `/accounts/${encodeURIComponent(options[owner])}/tokens`
          : `/connections/${encodeURIComponent(options[owner])}/ingest-keys`;
      const issued = await operatorFor(command).post<Token & { value: string }>(path, {
        name,
        expiresAt: expires,
      });
      show(command, issued, ['id', 'name', 'value']);
    });

  commands
    .command('list')
    .description(`list the ${plural} of an account, except revoked ones`)
    .requiredOption('--account <id>', 'account to list')
    .action(async ({ account }, command) => {
      const all = await operatorFor(command).list<Token>(`/accounts/${encodeURIComponent(account)}/tokens`);
      const shown = columns.filter(
        (column) => column !== 'scope' && (column !== 'connectionId' || scope === 'ingest'),
      );
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
      show(command, await operatorFor(command).delete(`/tokens/${encodeURIComponent(id)}`), [
        'id',
        'name',
        'revokedAt',
      ]),
    );

  return commands;
}
