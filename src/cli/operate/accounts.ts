import { Command, Option } from 'commander';
import type { Account, AuditEntry } from '../../operator/api/accounts.ts';
import { maxAccountsCounted } from '../../operator/api/counted.ts';
import type { Home } from '../../operator/api/service.ts';
import { mainHome } from '../../platform/homes/names.ts';
import { roles } from '../../platform/roles.ts';
import { ApiError, type Item } from './client.ts';
import { about, calling, group, within } from './command.ts';
import { operatorFor, wholeNumber } from './context.ts';
import { deleteAccountCommand } from './delete.ts';
import { moveAccountCommand } from './moves.ts';
import { type Column, rowsOf, show } from './print.ts';

const accountColumns: Column<Account>[] = ['id', 'name', 'status', 'createdAt'];

/** The home is shown where there are several. */
function withHomes(found: Account | Account[]): string {
  const accounts = [found].flat();
  const elsewhere = accounts.some(({ home }) => home !== mainHome);
  return rowsOf(accounts, elsewhere ? [...accountColumns, 'home'] : accountColumns);
}

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
  about(name, description, 'PATCH /accounts/:id', accountColumns, (given) => ({ ...given, ...change }));

const homeColumns: Column<Home>[] = [
  ['home', 'name'],
  ['accounts', ({ accounts }) => (accounts === maxAccountsCounted ? `${accounts}+` : accounts)],
  [
    'size',
    ({ bytes, share }) =>
      bytes === null || share === null
        ? 'cannot be reached'
        : `${(bytes / 1e9).toFixed(2)} of 10 GB (${Math.round(share * 100)} %)`,
  ],
  ['events a day', 'eventsPerDay'],
  ['full on', (home) => (home.bytes === null ? null : (home.fullOn ?? 'not growing'))],
];

export const homeCommands = (): Command =>
  group('home', 'show the homes: where accounts live', [
    calling(
      'list',
      'list all homes: how many accounts live there, how full they are, and when they will be full',
      'GET /homes',
      homeColumns,
    ),
  ]);

const userColumns: Column<Item<'GET /accounts/:id/users'>>[] = [
  'id',
  'email',
  'role',
  'pending',
  'createdAt',
  'lastSignInAt',
];

export const userCommands = (): Command =>
  group('user', 'manage the users of an account, who sign in to the portal', [
    within(
      'add',
      'invite somebody to the portal; they are pending until they sign in',
      'POST /accounts/:id/users',
      userColumns,
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
        show(command, await operator.call('DELETE /accounts/:id/users/:userId', asked), userColumns);
      }),
    within('list', 'list the users of an account', 'GET /accounts/:id/users', userColumns),
  ]);

export const signInLinkCommand = (): Command =>
  calling(
    'sign-in-link',
    'create a sign-in link to the portal, valid once for 15 minutes',
    'POST /sign-in-links',
    ({ url }) => url,
    ({ email, account: accountId }) => ({ email, accountId }),
  )
    .argument('<email>', 'email address of the user')
    .option('--account <id>', 'account to sign in to, if several have invited the person');

const auditColumns: Column<AuditEntry>[] = [
  'at',
  ['who', ({ actor, actorName, actorId }) => [actor, actorName ?? actorId].filter(Boolean).join(' ')],
  'action',
  'subject',
  ['name', 'subjectName'],
  ['id', 'subjectId'],
  ['fields', ({ fields }) => fields.join(', ') || null],
];

export const auditCommand = (): Command =>
  new Command('audit')
    .description('show who created, changed or deleted what, newest first')
    .option('--account <id>', 'only in this account')
    .option('--limit <count>', 'number of entries, at most 1000', wholeNumber(1, 1000), 100)
    .action(async ({ account: id, limit }, command) => {
      const operator = operatorFor(command);
      const query = { limit: String(limit) };
      if (id) show(command, await operator.call('GET /accounts/:id/audit', { id, query }), auditColumns);
      else show(command, await operator.call('GET /audit', { query }), ['accountId', ...auditColumns]);
    });
