import { by } from '../../core/platform/http/context.ts';
import { counted } from '../../texts/words.ts';
import type { Pages } from '../../ui/added.ts';
import { kindInWords } from '../../ui/lists/records.tsx';
import { type Column, TablePanel } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';
import { ingestProblemsOf, type Problems, problemDaysKept, problemsKept } from './problems.ts';

type SentProblem = Problems['rejected'][number];

/** What was wrong with records that a connector sent. */
const SentProblems = ({ problems: { rejected, warned, days } }: { problems: Problems }) => (
  <>
    <SentRecords
      title="Rejected records"
      foot="A corrected record is accepted when it is resent."
      items={rejected}
    />
    <SentRecords
      title="Accepted with warnings"
      foot="These records lack what could not be used."
      items={warned}
    />
    <TablePanel
      title="Rejections and warnings by day"
      foot={`Days in UTC, of the last ${problemDaysKept} that had any.`}
      live
      stacked
      columns={dayColumns}
      items={days}
    />
  </>
);

const SentRecords = (props: { title: string; foot: string; items: SentProblem[] }) => {
  const { foot, ...head } = props;
  const kept = `The last ${problemsKept} different ones are kept, without values of records. ${foot}`;
  return <TablePanel {...head} foot={kept} live labels columns={sentColumns} items={props.items} />;
};

const sentColumns: Column<SentProblem>[] = [
  {
    head: 'Records',
    look: 'card-title',
    cell: ({ kind }) => (kind ? kindInWords(kind) : 'Unknown kind'),
    more: ({ records }) => (
      <span class="sub block nowrap">{counted(records, 'record', 'records')}</span>
    ),
  },
  {
    head: 'Why',
    look: 'card-wide',
    cell: ({ field, message }) => (field ? [<code>{field}</code>, ` ${message}`] : message),
  },
  {
    head: 'Last call',
    // One box: on a phone it is beside the head.
    cell: ({ at, requestId, index }) => (
      <div>
        <Ago at={at} />
        <span class="sub block">
          <code>{requestId}</code>, index {index}
        </span>
      </div>
    ),
  },
];

const dayColumns: Column<Problems['days'][number]>[] = [
  { head: 'Day', look: 'nowrap', cell: ({ day }) => day },
  { head: 'Rejected records', cell: ({ rejected }) => rejected.toLocaleString('en') },
  { head: 'Warnings', cell: ({ warnings }) => warnings.toLocaleString('en') },
];

export const pages: Pages = {
  connection: async (c, { id }) => ({
    below: <SentProblems problems={await ingestProblemsOf(...by(c), id)} />,
  }),
};
