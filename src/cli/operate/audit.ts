import { Command, InvalidArgumentError } from 'commander';
import { operatorFor } from './context.ts';
import { show } from './table.ts';

type Entry = {
  at: string;
  accountId: string;
  actor: string;
  actorId: string | null;
  actorName: string | null;
  action: string;
  subject: string;
  subjectId: string;
  subjectName: string | null;
  fields: string[];
};

const columns = ['at', 'who', 'action', 'subject', 'name', 'id', 'fields'];

/** fleet audit */
export function auditCommand(): Command {
  return new Command('audit')
    .description('show who created, changed or deleted what, newest first')
    .option('--account <id>', 'only in this account')
    .option('--limit <count>', 'number of entries, at most 1000', upTo1000, 100)
    .action(async ({ account, limit }, command) => {
      const path = account ? `/accounts/${encodeURIComponent(account)}/audit` : '/audit';
      const entries = await operatorFor(command).get<Entry[]>(`${path}?limit=${limit}`);
      if (command.optsWithGlobals().json) return show(command, entries, []);
      show(command, entries.map(inWords), account ? columns : ['accountId', ...columns]);
    });
}

const inWords = ({ actor, actorName, actorId, subjectName, subjectId, fields, ...entry }: Entry) => ({
  ...entry,
  who: [actor, actorName ?? actorId].filter(Boolean).join(' '),
  name: subjectName,
  id: subjectId,
  fields: fields.join(', ') || null,
});

function upTo1000(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1000)
    throw new InvalidArgumentError('It must be a whole number from 1 to 1000.');
  return value;
}
