import { Command, Option } from 'commander';
import { roles } from '../../platform/roles.ts';
import { ApiError } from './client.ts';
import { operatorFor } from './context.ts';
import { printable } from './printable.ts';
import { show } from './table.ts';

type User = { id: string; email: string };

const columns = ['id', 'email', 'role', 'pending', 'createdAt', 'lastSignInAt'];
const usersOf = (account: string) => `/accounts/${encodeURIComponent(account)}/users`;

/** fleet user … */
export function userCommands(): Command {
  const user = new Command('user').description('manage portal users: the people of an account');

  user
    .command('add')
    .description('let a person sign in to the portal; they are pending until they have')
    .argument('<email>', 'email address of the person')
    .requiredOption('--account <id>', 'account of the person')
    .addOption(
      new Option('--role <role>', 'what they may do; the first person of an account becomes an admin')
        .choices(roles)
        .default('admin'),
    )
    .action(async (email, { account, role }, command) =>
      show(command, await operatorFor(command).post(usersOf(account), { email, role }), columns),
    );

  user
    .command('remove')
    .description('remove a person and end all of their sessions')
    .argument('<email>', 'email address of the person')
    .requiredOption('--account <id>', 'account of the person')
    .action(async (email, { account }, command) => {
      const operator = operatorFor(command);
      const users = await operator.list<User>(usersOf(account));
      const found = users.find((user) => user.email === email.toLowerCase());
      if (!found) throw new ApiError(`This account has no portal user ${email}`);
      show(command, await operator.delete(`${usersOf(account)}/${found.id}`), columns);
    });

  user
    .command('list')
    .description('list the portal users of an account')
    .requiredOption('--account <id>', 'account to list')
    .action(async ({ account }, command) =>
      show(command, await operatorFor(command).list(usersOf(account)), columns),
    );

  return user;
}

/** fleet sign-in-link */
export const signInLinkCommand = () =>
  new Command('sign-in-link')
    .description('create a link that signs a person in to the portal; valid once, for 15 minutes')
    .argument('<email>', 'email address of the person')
    .option('--account <id>', 'account to sign in to, for somebody whom several have invited')
    .action(async (email, { account }, command) => {
      const body = { email, accountId: account };
      const { url } = await operatorFor(command).post<{ url: string }>('/sign-in-links', body);
      if (command.optsWithGlobals().json) show(command, { url }, ['url']);
      else console.log(printable(url));
    });
