import { Command } from 'commander';
import type { AuditEntry } from '../../operator/api/accounts.ts';
import { operatorFor, wholeNumberTo } from './context.ts';
import { show } from './print.ts';

const columns = ['at', 'who', 'action', 'subject', 'name', 'id', 'fields'];

/** fleet audit */
export function auditCommand(): Command {
  return new Command('audit')
    .description('show who created, changed or deleted what, newest first')
    .option('--account <id>', 'only in this account')
    .option('--limit <count>', 'number of entries, at most 1000', wholeNumberTo(1000), 100)
    .action(async ({ account, limit }, command) => {
      const operator = operatorFor(command);
      const query = { limit: String(limit) };
      const entries = account
        ? await operator.get('/accounts/:id/audit', { id: account, query })
        : await operator.get('/audit', { query });
      show(command, entries, account ? columns : ['accountId', ...columns], inWords);
    });
}

const inWords = ({ actor, actorName, actorId, subjectName, subjectId, fields, ...entry }: AuditEntry) => ({
  ...entry,
  who: [actor, actorName ?? actorId].filter(Boolean).join(' '),
  name: subjectName,
  id: subjectId,
  fields: fields.join(', ') || null,
});
