import { type Entry, listAudit } from '../../accounts/audit/list.ts';
import { auditDays } from '../../accounts/audit/prune.ts';
import type { Context } from '../../platform/http/context.ts';
import { requestedSlice } from '../../platform/http/slices.ts';
import { capital } from '../../platform/text.ts';
import { page } from '../ui/layout.tsx';
import { Empty } from '../ui/parts.tsx';
import { type Column, SlicePager, TablePanel } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

const pageSize = 100;

/** Settings, Audit log. */
export async function list(c: Context) {
  const slice = requestedSlice(c, pageSize);
  const { items: entries, next } = await listAudit(c.env, c.get('caller'), slice);
  return page(
    c,
    { title: 'Audit log' },
    <TablePanel
      id="entries"
      title="Who changed what"
      side={<p>Newest first, kept for {auditDays} days</p>}
      foot="The operator is the team that runs this service."
      stacked
      columns={columns}
      items={entries}
      empty={
        <Empty icon="file-text" title="Nothing has changed yet">
          Changes to tokens, webhooks, people and connections appear here.
        </Empty>
      }
    >
      <SlicePager c={c} count={`${entries.length} entries on this page`} slice={slice} next={next} />
    </TablePanel>,
  );
}

const columns: Column<Entry>[] = [
  { head: 'What', look: 'card-title', cell: (entry) => <What entry={entry} /> },
  { head: 'Who', cell: (entry) => <span class="break-words">{whoIn(entry)}</span> },
  { head: 'When', look: 'nowrap', cell: ({ at }) => <Time at={at} /> },
];

/** "Revoked API token Claims", "Invited lene@example.com". */
const What = ({ entry: { action, subject, subjectName, subjectId, fields } }: { entry: Entry }) => (
  <span class="break-words">
    {capital(action)} {subject !== 'person' && `${subject} `}
    {subjectName === null ? <code>{subjectId}</code> : <strong class="font-medium">{subjectName}</strong>}
    {fields.length > 0 && <span class="sub block">{fields.join(', ')}</span>}
  </span>
);

function whoIn({ actor, actorName, actorId }: Entry): string {
  if (actor === 'operator') return 'Operator';
  if (actor === 'service') return 'The service';
  const name = actorName ?? actorId ?? '';
  return actor === 'token' ? `API token ${name}` : name;
}
