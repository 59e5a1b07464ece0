import { Command, Option } from 'commander';
import { roles } from '../../platform/roles.ts';
import { ApiError, type Item } from './client.ts';
import { calling, group, within } from './command.ts';
import { operatorFor } from './context.ts';
import { type Column, printable, show } from './print.ts';

const columns: Column<Item<'GET /accounts/:id/users'>>[] = [
  'id',
  'email',
  'role',
  'pending',
  'createdAt',
  'lastSignInAt',
];

/** fleet user … */
export const userCommands = (): Command =>
  group('user', 'manage the users of an account, who sign in to the portal', [
    within(
      'add',
      'let somebody sign in to the portal; they are pending until they have',
      'POST /accounts/:id/users',
      columns,
    )
      .argument('<email>', 'email address of the user')
      .addOption(
        new Option('--role <role>', 'what they may do; the first user of an account becomes an admin')
          .choices(roles)
          .default('admin'),
      ),
    new Command('remove')
      .description('remove a user and end all of their sessions')
      .argument('<email>', 'email address of the user')
      .requiredOption('--account <id>', 'account of the user')
      .action(async (email, { account: id }, command) => {
        const operator = operatorFor(command);
        const users = await operator.call('GET /accounts/:id/users', { id });
        const found = users.find((user) => user.email === email.toLowerCase());
        if (!found) throw new ApiError(`This account has no user ${email}`);
        const asked = { id, userId: found.id };
        show(command, await operator.call('DELETE /accounts/:id/users/:userId', asked), columns);
      }),
    within('list', 'list the users of an account', 'GET /accounts/:id/users', columns),
  ]);

/** fleet sign-in-link */
export const signInLinkCommand = (): Command =>
  calling(
    'sign-in-link',
    'create a link that signs a user in to the portal; valid once, for 15 minutes',
    'POST /sign-in-links',
    ({ url }) => printable(url),
    ({ email, account: accountId }) => ({ email, accountId }),
  )
    .argument('<email>', 'email address of the user')
    .option('--account <id>', 'account to sign in to, for somebody whom several have invited');
