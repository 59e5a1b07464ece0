import { capital, counted } from '../../core/platform/text.ts';
import {
  type Problems,
  problemDaysKept,
  problemsKept,
} from '../../extras/connector-problems/problems.ts';
import type { PullStatus } from '../../extras/providers/status.ts';
import { refusalsKept } from '../../extras/providers/store.ts';
import { type Column, TablePanel } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';

/** What was wrong with records that were pulled. */
export const PulledProblems = ({ pull }: { pull: PullStatus | undefined }) => (
  <>
    <RefusedRecords
      title="Refused records"
      foot="A corrected record is accepted when it is resent."
      items={pull?.refusals}
    />
    <RefusedRecords
      title="Accepted with warnings"
      foot="These records lack what could not be used."
      items={pull?.warnings}
    />
  </>
);

type RefusedRecord = PullStatus['refusals'][number];

const RefusedRecords = (props: {
  title: string;
  foot: string;
  items: RefusedRecord[] | undefined;
}) => {
  const { foot, items = [], ...head } = props;
  const kept = `The last ${refusalsKept} are kept. ${foot}`;
  return <TablePanel {...head} foot={kept} live labels columns={pulledColumns} items={items} />;
};

/** "Safety event" for `safetyEvent`. */
const kindInWords = (kind: string): string => capital(kind.replace('E', ' e'));

const pulledColumns: Column<RefusedRecord>[] = [
  {
    head: 'Record',
    look: 'card-title',
    cell: ({ kind }) => kindInWords(kind),
    more: ({ sourceId }) =>
      sourceId && (
        <span class="sub block md:min-w-36">
          <code>{sourceId}</code>
        </span>
      ),
  },
  { head: 'Why', look: 'card-wide', cell: ({ reason }) => reason },
  { head: 'When', look: 'nowrap', cell: ({ at }) => <Ago at={at} /> },
];

type SentProblem = Problems['rejected'][number];

/** What was wrong with records that a connector sent. */
export const SentProblems = ({ problems: { rejected, warned, days } }: { problems: Problems }) => (
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
