import { Command, Option } from 'commander';
import { roles } from '../../platform/roles.ts';
import { ApiError } from './client.ts';
import { operatorFor } from './context.ts';
import { print, printable, show } from './print.ts';

const columns = ['id', 'email', 'role', 'pending', 'createdAt', 'lastSignInAt'];

/** fleet user … */
export function userCommands(): Command {
  const user = new Command('user').description('manage the users of an account, who sign in to the portal');

  user
    .command('add')
    .description('let somebody sign in to the portal; they are pending until they have')
    .argument('<email>', 'email address of the user')
    .requiredOption('--account <id>', 'account of the user')
    .addOption(
      new Option('--role <role>', 'what they may do; the first user of an account becomes an admin')
        .choices(roles)
        .default('admin'),
    )
    .action(async (email, { account: id, role }, command) =>
      show(
        command,
        await operatorFor(command).post('/accounts/:id/users', { id, body: { email, role } }),
        columns,
      ),
    );

  user
    .command('remove')
    .description('remove a user and end all of their sessions')
    .argument('<email>', 'email address of the user')
    .requiredOption('--account <id>', 'account of the user')
    .action(async (email, { account: id }, command) => {
      const operator = operatorFor(command);
      const users = await operator.list('/accounts/:id/users', { id });
      const found = users.find((user) => user.email === email.toLowerCase());
      if (!found) throw new ApiError(`This account has no user ${email}`);
      const removed = await operator.delete('/accounts/:id/users/:userId', { id, userId: found.id });
      show(command, removed, columns);
    });

  user
    .command('list')
    .description('list the users of an account')
    .requiredOption('--account <id>', 'account to list')
    .action(async ({ account: id }, command) =>
      show(command, await operatorFor(command).list('/accounts/:id/users', { id }), columns),
    );

  return user;
}

/** fleet sign-in-link */
export const signInLinkCommand = () =>
  new Command('sign-in-link')
    .description('create a link that signs a user in to the portal; valid once, for 15 minutes')
    .argument('<email>', 'email address of the user')
    .option('--account <id>', 'account to sign in to, for somebody whom several have invited')
    .action(async (email, { account }, command) => {
      const body = { email, accountId: account };
      const link = await operatorFor(command).post('/sign-in-links', { body });
      print(command, link, ({ url }) => printable(url));
    });
