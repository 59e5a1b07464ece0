import { Command } from 'commander';
import type { Item } from './client.ts';
import { about, group, within } from './command.ts';
import { operatorFor } from './context.ts';
import { type Column, show } from './print.ts';

export const tokenCommands = (): Command =>
  group('token', 'manage API tokens', [
    issuing('an API token', 'POST /accounts/:id/tokens').option(
      '--read-only',
      'read-only, without the headers of webhooks',
    ),
    listing('api', 'API tokens', 'readOnly'),
    revoking('an API token'),
  ]);

export const ingestKeyCommands = (): Command =>
  group('ingest-key', 'manage ingest keys', [
    issuing('an ingest key', 'POST /connections/:id/ingest-keys'),
    listing('ingest', 'ingest keys', 'connectionId'),
    revoking('an ingest key'),
  ]);

const issuing = (
  singular: string,
  call: 'POST /accounts/:id/tokens' | 'POST /connections/:id/ingest-keys',
): Command =>
  within(
    'issue',
    `issue ${singular}; its value is shown only once`,
    call,
    ['id', 'name', 'value'],
    ({ expires: expiresAt, ...rest }) => ({ expiresAt, ...rest }),
  )
    .requiredOption('--name <name>', 'what it is for')
    .option('--expires <time>', 'when it expires, such as 2027-01-31T00:00:00Z (default: never)');

type Token = Item<'GET /accounts/:id/tokens'>;

const listing = (scope: Token['scope'], plural: string, own: Column<Token>): Command =>
  new Command('list')
    .description(`list the ${plural} of an account, except revoked ones`)
    .requiredOption('--account <id>', 'account to list')
    .action(async ({ account: id }, command) => {
      const all = await operatorFor(command).call('GET /accounts/:id/tokens', { id });
      const found = all.filter((token) => token.scope === scope);
      show(command, found, ['id', 'name', own, 'lastFour', 'createdAt', 'lastUsedAt', 'expiresAt']);
    });

const revoking = (singular: string): Command =>
  about('revoke', `revoke ${singular}, with immediate effect`, 'DELETE /tokens/:id', [
    'id',
    'name',
    'revokedAt',
  ]);
