import { kindInWords } from '../../../ui/lists/records.tsx';
import { type Column, TablePanel } from '../../../ui/table.tsx';
import { Ago } from '../../../ui/time.tsx';
import type { PullStatus } from '../status.ts';
import { refusalsKept } from '../store.ts';

/** What was wrong with records that were pulled. */
export const PulledProblems = ({ pull: { refusals, warnings } }: { pull: PullStatus }) => (
  <>
    <RefusedRecords
      title="Refused records"
      foot="A corrected record is accepted when it is resent."
      items={refusals}
    />
    <RefusedRecords
      title="Accepted with warnings"
      foot="These records lack what could not be used."
      items={warnings}
    />
  </>
);

type RefusedRecord = PullStatus['refusals'][number];

const RefusedRecords = (props: { title: string; foot: string; items: RefusedRecord[] }) => {
  const { foot, ...head } = props;
  const kept = `The last ${refusalsKept} are kept. ${foot}`;
  return (
    <TablePanel {...head} foot={kept} live labels columns={pulledColumns} items={props.items} />
  );
};

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
