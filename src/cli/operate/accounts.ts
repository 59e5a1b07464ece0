import { Command } from 'commander';
import { operatorFor } from './context.ts';
import { deleteAccountCommand } from './delete.ts';
import { show } from './table.ts';

const columns = ['id', 'name', 'status', 'createdAt'];

/** fleet account … */
export function accountCommands(): Command {
  const account = new Command('account').description('manage accounts: the customers of the service');

  account
    .command('create')
    .description('create an account')
    .argument('<name>', 'name of the customer')
    .action(async (name, _, command) =>
      show(command, await operatorFor(command).post('/accounts', { name }), columns),
    );

  account
    .command('list')
    .description('list all accounts')
    .action(async (_, command) => show(command, await operatorFor(command).list('/accounts'), columns));

  account
    .command('rename')
    .description('rename an account')
    .argument('<id>', 'id of the account')
    .argument('<name>', 'its new name')
    .action(async (id, name, _, command) =>
      show(
        command,
        await operatorFor(command).patch(`/accounts/${encodeURIComponent(id)}`, { name }),
        columns,
      ),
    );

  for (const [verb, status, description] of [
    ['suspend', 'suspended', 'suspend an account: refuse all of its credentials'],
    ['activate', 'active', 'activate a suspended account, and cancel its deletion'],
  ])
    account
      .command(`${verb}`)
      .description(`${description}`)
      .argument('<id>', 'id of the account')
      .action(async (id, _, command) =>
        show(
          command,
          await operatorFor(command).patch(`/accounts/${encodeURIComponent(id)}`, { status }),
          columns,
        ),
      );

  return account.addCommand(deleteAccountCommand());
}
