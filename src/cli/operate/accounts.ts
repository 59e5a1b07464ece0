import { Command } from 'commander';
import { mainHome } from '../../platform/homes/names.ts';
import { operatorFor } from './context.ts';
import { deleteAccountCommand } from './delete.ts';
import { moveAccountCommand } from './moves.ts';
import { show } from './table.ts';

const columns = ['id', 'name', 'status', 'createdAt'];

/** A service from before there were homes leaves `home` out. */
type Account = { home?: string };

/** Where they live is shown where it is not the same for all. */
function showAccounts(command: Command, found: Account | Account[]): void {
  const elsewhere = [found].flat().some(({ home = mainHome }) => home !== mainHome);
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
    .action(async (name, { home }: { home?: string }, command) => {
      const body = { name, ...(home !== undefined && { home }) };
      showAccounts(command, await operatorFor(command).post<Account>('/accounts', body));
    });

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

  return account.addCommand(moveAccountCommand()).addCommand(deleteAccountCommand());
}
