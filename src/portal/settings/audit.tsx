import { type Entry, listAudit } from '../../core/accounts/audit/list.ts';
import { auditDays } from '../../core/accounts/audit/prune.ts';
import type { Context } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { page } from '../../ui/layout.tsx';
import { type Column, sliceOn, TablePanel } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

/** Settings, Audit log. */
export const list = async (c: Context) =>
  page(
    c,
    { title: 'Audit log' },
    <TablePanel
      title="Who changed what"
      side={<p>Newest first, kept for {auditDays} days</p>}
      foot="The operator is the team that runs this service."
      stacked
      columns={columns}
      {...(await sliceOn(c, 100, ['entry', 'entries'], listAudit))}
      empty={{
        icon: 'file-text',
        title: 'Nothing has changed yet',
        text: 'Changes to tokens, webhooks, people and connections appear here.',
      }}
    />,
  );

const columns: Column<Entry>[] = [
  { head: 'What', look: 'card-title', cell: (entry) => <What entry={entry} /> },
  { head: 'Who', cell: whoIn },
  { head: 'When', look: 'nowrap', cell: ({ at }) => <Time at={at} /> },
];

/** "Revoked API token Claims", "Invited lene@example.com". */
const What = ({ entry: { action, subject, subjectName, subjectId, fields } }: { entry: Entry }) => (
  <span>
    {capital(action)} {subject !== 'person' && `${subject} `}
    {subjectName === null ? (
      <code>{subjectId}</code>
    ) : (
      <strong class="font-medium">{subjectName}</strong>
    )}
    {fields.length > 0 && <span class="sub block">{fields.join(', ')}</span>}
  </span>
);

function whoIn({ actor, actorName, actorId }: Entry): string {
  if (actor === 'operator') return 'Operator';
  if (actor === 'service') return 'The service';
  const name = actorName ?? actorId ?? '';
  return actor === 'token' ? `API token ${name}` : name;
}
