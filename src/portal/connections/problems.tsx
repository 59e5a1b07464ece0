import type { PullStatus } from '../../extras/providers/status.ts';
import { refusalsKept } from '../../extras/providers/store.ts';
import { kindInWords } from '../../ui/records.tsx';
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
