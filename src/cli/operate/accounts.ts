import { Command } from 'commander';
import { operatorFor, show } from './context.ts';

const columns = ['id', 'name', 'status', 'createdAt'];

/** fleet account … */
export function accountCommands(): Command {
  const account = new Command('account').description('customers of the service');

  account
    .command('create')
    .description('open an account')
    .argument('<name>', 'whose it is')
    .action(async (name, _, command) =>
      show(command, await operatorFor(command).post('/accounts', { name }), columns),
    );

  account
    .command('list')
    .description('list all accounts')
    .action(async (_, command) => show(command, await operatorFor(command).get('/accounts'), columns));

  for (const [verb, status, effect] of [
    ['suspend', 'suspended', 'refuse all of its credentials from now on'],
    ['activate', 'active', 'let it in again'],
  ])
    account
      .command(`${verb}`)
      .description(`set an account ${status}: ${effect}`)
      .argument('<id>', "the account's id")
      .action(async (id, _, command) =>
        show(
          command,
          await operatorFor(command).patch(`/accounts/${encodeURIComponent(id)}`, { status }),
          columns,
        ),
      );

  return account;
}
