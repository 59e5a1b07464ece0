import { Hono } from 'hono';
import { type Entry, listAudit } from '../audit/list.ts';
import { auditDays } from '../audit/prune.ts';
import type { App, Context } from '../http/context.ts';
import { cursorFor, requestedSlice } from '../http/slices.ts';
import { Table, Time } from './components.tsx';
import { page } from './layout.tsx';

/** Settings, Audit log: who changed what in the account. */
export const auditPages = new Hono<App>().get('/settings/audit', list);

const pageSize = 100;

async function list(c: Context) {
  const { items: entries, next } = await listAudit(c.env, c.get('caller'), requestedSlice(c, pageSize));
  return page(
    c,
    'Audit log',
    <>
      <p>
        Who created, changed or deleted tokens, webhooks, people and connections of this account, newest
        first. Entries are kept for {auditDays} days. “Operator” is the team that runs this service.
      </p>
      {entries.length === 0 ? (
        <p>Nothing has changed yet.</p>
      ) : (
        <Table caption="Audit log" head={['Time', 'Who', 'Action', 'What']}>
          {entries.map((entry) => (
            <tr>
              <th scope="row">
                <Time at={entry.at} />
              </th>
              <td>{whoIn(entry)}</td>
              <td>{entry.action}</td>
              <td>
                {entry.subject} {entry.subjectName ?? <code>{entry.subjectId}</code>}
                {entry.fields.length > 0 && ` (${entry.fields.join(', ')})`}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {next && <a href={`${c.req.path}?cursor=${cursorFor(c, next)}`}>Older entries</a>}
    </>,
  );
}

function whoIn({ actor, actorName, actorId }: Entry): string {
  if (actor === 'operator') return 'Operator';
  if (actor === 'service') return 'the service';
  const name = actorName ?? actorId ?? '';
  return actor === 'token' ? `API token ${name}` : name;
}
