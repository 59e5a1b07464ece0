import type { Command } from 'commander';
import type { Account } from '../../operator/api/accounts.ts';
import { mainHome } from '../../platform/homes/names.ts';
import { about, calling, group } from './command.ts';
import { deleteAccountCommand } from './delete.ts';
import { moveAccountCommand } from './moves.ts';
import { type Column, rowsOf } from './print.ts';

const columns: Column<Account>[] = ['id', 'name', 'status', 'createdAt'];

/** Where they live is shown where it is not the same for all. */
function withHomes(found: Account | Account[]): string {
  const accounts = [found].flat();
  const elsewhere = accounts.some(({ home }) => home !== mainHome);
  return rowsOf(accounts, elsewhere ? [...columns, 'home'] : columns);
}

/** fleet account … */
export const accountCommands = (): Command =>
  group('account', 'manage accounts: the customers of the service', [
    calling('create', 'create an account', 'POST /accounts', withHomes)
      .argument('<name>', 'name of the customer')
      .option('--home <name>', 'home to keep all of it in, as `fleet home list` names them (default: main)'),
    calling('list', 'list all accounts', 'GET /accounts', withHomes),
    changing('rename', 'rename an account').argument('<name>', 'its new name'),
    changing('suspend', 'suspend an account: refuse all of its credentials', { status: 'suspended' }),
    changing('activate', 'activate a suspended account, and cancel its deletion', { status: 'active' }),
    moveAccountCommand(),
    deleteAccountCommand(),
  ]);

const changing = (name: string, description: string, change: object = {}): Command =>
  about(name, description, 'PATCH /accounts/:id', columns, (given) => ({ ...given, ...change }));
