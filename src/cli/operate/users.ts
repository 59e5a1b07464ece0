import { Command } from 'commander';
import { ApiError } from './client.ts';
import { operatorFor, show } from './context.ts';

type User = { id: string; email: string };

const columns = ['id', 'email', 'createdAt', 'lastSignInAt'];
const usersOf = (account: string) => `/accounts/${encodeURIComponent(account)}/users`;

/** fleet user … */
export function userCommands(): Command {
  const user = new Command('user').description('the people of an account, who may sign in to the portal');

  user
    .command('add')
    .description('let a person sign in')
    .argument('<email>', 'their address')
    .requiredOption('--account <id>', 'to which account')
    .action(async (email, { account }, command) =>
      show(command, await operatorFor(command).post(usersOf(account), { email }), columns),
    );

  user
    .command('remove')
    .description('keep a person out, and end all of their sessions')
    .argument('<email>', 'their address')
    .requiredOption('--account <id>', 'of which account')
    .action(async (email, { account }, command) => {
      const operator = operatorFor(command);
      const users = await operator.get<User[]>(usersOf(account));
      const found = users.find((one) => one.email === email.toLowerCase());
      if (!found) throw new ApiError(`Nobody of this account has the address ${email}`);
      show(command, await operator.delete(`${usersOf(account)}/${found.id}`), columns);
    });

  user
    .command('list')
    .description('list the people of an account')
    .requiredOption('--account <id>', 'which')
    .action(async ({ account }, command) =>
      show(command, await operatorFor(command).get(usersOf(account)), columns),
    );

  return user;
}

/** fleet sign-in-link */
export const signInLinkCommand = () =>
  new Command('sign-in-link')
    .description('make a link that signs a person in to the portal: for 15 minutes, and once')
    .argument('<email>', 'their address')
    .action(async (email, _, command) => {
      const { url } = await operatorFor(command).post<{ url: string }>('/sign-in-links', { email });
      if (command.optsWithGlobals().json) show(command, { url }, ['url']);
      else console.log(url);
    });
