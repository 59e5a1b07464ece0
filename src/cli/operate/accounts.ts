import { Command } from 'commander';
import type { Account } from '../../operator/api/accounts.ts';
import { mainHome } from '../../platform/homes/names.ts';
import { operatorFor } from './context.ts';
import { deleteAccountCommand } from './delete.ts';
import { moveAccountCommand } from './moves.ts';
import { show } from './print.ts';

const columns = ['id', 'name', 'status', 'createdAt'];

/** Where they live is shown where it is not the same for all. */
function showAccounts(command: Command, found: Account | Account[]): void {
  const elsewhere = [found].flat().some(({ home }) => home !== mainHome);
  show(command, found, elsewhere ? [...columns, 'home'] : columns);
}

/** fleet account … */
export function accountCommands(): Command {
  const account = new Command('account').description('manage accounts: the customers of the service');

  account
    .command('create')
    .description('create an account')
    .argument('<name>', 'name of the customer')
    .option('--home <name>', 'home to keep all of it in, as `fleet home list` names them (default: main)')
    .action(async (name, { home }, command) =>
      showAccounts(command, await operatorFor(command).post('/accounts', { body: { name, home } })),
    );

  account
    .command('list')
    .description('list all accounts')
    .action(async (_, command) => showAccounts(command, await operatorFor(command).list('/accounts')));

  account
    .command('rename')
    .description('rename an account')
    .argument('<id>', 'id of the account')
    .argument('<name>', 'its new name')
    .action(async (id, name, _, command) =>
      show(command, await operatorFor(command).patch('/accounts/:id', { id, body: { name } }), columns),
    );

  for (const [verb, status, description] of [
    ['suspend', 'suspended', 'suspend an account: refuse all of its credentials'],
    ['activate', 'active', 'activate a suspended account, and cancel its deletion'],
  ] as const)
    account
      .command(verb)
      .description(description)
      .argument('<id>', 'id of the account')
      .action(async (id, _, command) =>
        show(command, await operatorFor(command).patch('/accounts/:id', { id, body: { status } }), columns),
      );

  return account.addCommand(moveAccountCommand()).addCommand(deleteAccountCommand());
}
