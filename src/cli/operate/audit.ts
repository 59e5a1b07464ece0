import { Command } from 'commander';
import type { AuditEntry } from '../../operator/api/accounts.ts';
import { operatorFor, wholeNumberTo } from './context.ts';
import { type Column, show } from './print.ts';

const columns: Column<AuditEntry>[] = [
  'at',
  ['who', ({ actor, actorName, actorId }) => [actor, actorName ?? actorId].filter(Boolean).join(' ')],
  'action',
  'subject',
  ['name', 'subjectName'],
  ['id', 'subjectId'],
  ['fields', ({ fields }) => fields.join(', ') || null],
];

/** fleet audit */
export const auditCommand = (): Command =>
  new Command('audit')
    .description('show who created, changed or deleted what, newest first')
    .option('--account <id>', 'only in this account')
    .option('--limit <count>', 'number of entries, at most 1000', wholeNumberTo(1000), 100)
    .action(async ({ account: id, limit }, command) => {
      const operator = operatorFor(command);
      const query = { limit: String(limit) };
      if (id) show(command, await operator.call('GET /accounts/:id/audit', { id, query }), columns);
      else show(command, await operator.call('GET /audit', { query }), ['accountId', ...columns]);
    });
