import { by, type Context } from '../../../core/platform/http/context.ts';
import { percent, waitInWords } from '../../../texts/words.ts';
import type { OnOverview } from '../../../ui/added.ts';
import { Live } from '../../../ui/parts.tsx';
import { type Column, TablePanel } from '../../../ui/table.tsx';
import { maxTimed, percentile, timesOf, type Waits } from '../times.ts';

/** How long deliveries took, on the overview. */
export async function onOverview(c: Context): Promise<OnOverview> {
  const waits = await timesOf(...by(c));
  return {
    last: (
      <Live id="delivery-times-now">
        <DeliveryTimes waits={waits} />
      </Live>
    ),
  };
}

const DeliveryTimes = ({ waits }: { waits: { accidents: Waits; events: Waits } }) => {
  const shown: Kind[] = [
    { name: 'Accidents', ...waits.accidents },
    { name: 'Events', ...waits.events },
  ];
  if (shown.every(({ count }) => count === 0)) return null;
  return (
    <TablePanel
      title="Delivery times"
      side={<p>50th · 95th · 99th percentile of the last {maxTimed.toLocaleString('en')}</p>}
      caption="Time from receipt to the first attempt and to success"
      stacked
      columns={timeColumns}
      items={shown}
    />
  );
};

type Kind = Waits & { name: string };

const timeColumns: Column<Kind>[] = [
  { head: 'Deliveries', look: 'card-title', cell: ({ name }) => name },
  { head: 'Count', cell: ({ count }) => count.toLocaleString('en') },
  { head: 'Attempted in 5 s', cell: ({ inTime }) => (inTime === null ? '–' : percent(inTime, 1)) },
  { head: 'First attempt', cell: ({ firstAttempt }) => percentiles(firstAttempt) },
  { head: 'Success', cell: ({ delivered }) => percentiles(delivered) },
];

function percentiles(times: number[]): string {
  const found = [0.5, 0.95, 0.99].flatMap((share) => percentile(times, share) ?? []);
  return found.map(waitInWords).join(' · ') || '–';
}
