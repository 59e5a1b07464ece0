import { Command } from 'commander';
import { operatorFor, show } from './context.ts';

const columns = ['id', 'name', 'scope', 'connectionId', 'lastFour', 'createdAt', 'lastUsedAt', 'expiresAt'];
type Token = { scope: string; connectionId: string | null };

const kinds = {
  token: { scope: 'api', owner: 'account', what: "an account's API tokens", one: 'an API token' },
  'ingest-key': {
    scope: 'ingest',
    owner: 'connection',
    what: "a connection's ingest keys",
    one: 'an ingest key',
  },
};

/** fleet token … and fleet ingest-key … */
export function tokenCommands(kind: keyof typeof kinds): Command {
  const { scope, owner, what, one } = kinds[kind];
  const commands = new Command(kind).description(what);

  commands
    .command('issue')
    .description(`issue ${one}; its value is shown this once`)
    .requiredOption(`--${owner} <id>`, 'whose it is')
    .requiredOption('--name <name>', 'what it is for')
    .option('--expires <time>', 'when it ends, as in 2027-01-31T00:00:00Z; without it, never')
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
    .description(`list ${what} that are not revoked`)
    .requiredOption('--account <id>', 'whose')
    .action(async ({ account }, command) => {
      const all = await operatorFor(command).get<Token[]>(`/accounts/${encodeURIComponent(account)}/tokens`);
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
    .description(`revoke ${one}, with immediate effect`)
    .argument('<id>', 'the id that list shows, not the value')
    .action(async (id, _, command) =>
      show(command, await operatorFor(command).delete(`/tokens/${encodeURIComponent(id)}`), [
        'id',
        'name',
        'revokedAt',
      ]),
    );

  return commands;
}
