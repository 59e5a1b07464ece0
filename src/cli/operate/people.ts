import { Command } from 'commander';
import type { InferOutput } from 'valibot';
import type { AuditEntry } from '../../operator/api/accounts.ts';
import { askAll, inOneList, operatorFor } from './cells.ts';
import { ApiError } from './client.ts';
import { wholeNumber } from './context.ts';
import { eachAs, show } from './print.ts';

export const removeUserCommand = (): Command =>
  new Command('remove')
    .description('Remove a user and end all of their sessions')
    .argument('<email>', 'email address of the user')
    .requiredOption('--account <id>', 'account of the user')
    .action(async (email, { account: id }, command) => {
      const operator = operatorFor(command);
      const users = await operator.call('GET /accounts/:id/users', { id });
      const found = users.find((user) => user.email === email.toLowerCase());
      if (!found) throw new ApiError(`This account has no user ${email}`);
      show(
        command,
        await operator.call('DELETE /accounts/:id/users/:userId', { id, userId: found.id }),
      );
    });

export const auditCommand = (): Command =>
  new Command('audit')
    .description('Show who created, changed or deleted what, newest first')
    .option('--account <id>', 'only in this account')
    .option('--limit <count>', 'number of entries, at most 1000', wholeNumber(1, 1000), 100)
    .action(async ({ account: id, limit }, command) => {
      const query = { limit: String(limit) };
      const entries = id
        ? await operatorFor(command).call('GET /accounts/:id/audit', { id, query })
        : inOneList(await askAll(command, 'GET /audit', { query }));
      const newest = entries.sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, limit);
      show(command, newest, eachAs(entryOf));
    });

const entryOf = ({ at, account, actor, actorName, ...entry }: InferOutput<typeof AuditEntry>) => {
  const toWhat = [entry.subjectName ?? entry.subjectId, ...entry.fields];
  return { at, account, who: actorName ?? actor, did: `${entry.action} ${entry.subject}`, toWhat };
};
