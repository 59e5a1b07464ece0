import { waitInWords } from '../../webhooks/latency.ts';
import type { levelsOf, ServiceLevel } from '../../webhooks/service-levels.ts';
import { percent } from '../ui/format.ts';
import { Panel } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

/** How long notifications took from their receipt to the first attempt and to their delivery. Nothing while there are none. */
export const DeliveryTimes = ({ levels: { day, month } }: { levels: ReturnType<typeof levelsOf> }) => {
  const shown: Shown[] = [
    { name: 'Accidents, 24 hours', ...day.accidents },
    { name: 'Accidents, 30 days', ...month.accidents },
    { name: 'Events, 24 hours', ...day.events },
    { name: 'Events, 30 days', ...month.events },
  ];
  if (shown.every(({ count }) => count === 0)) return null;
  return (
    <Panel id="delivery-times" title="Delivery times" side={<p>50% · 95% · 99% of deliveries within</p>}>
      <Table
        caption="Time from receipt to the first attempt and to success"
        look="data-cards"
        labels
        columns={columns}
        items={shown}
      />
    </Panel>
  );
};

type Shown = ServiceLevel & { name: string };

const columns: Column<Shown>[] = [
  { head: 'Deliveries', look: 'card-title', cell: ({ name }) => name },
  { head: 'Count', cell: ({ count }) => count.toLocaleString('en') },
  { head: 'Attempted in 5 s', cell: ({ inTime }) => (inTime === null ? '–' : percent(inTime, 1)) },
  { head: 'First attempt', cell: ({ count, firstAttempt }) => (count > 0 ? times(firstAttempt) : '–') },
  { head: 'Success', cell: ({ count, delivered }) => (count > 0 ? times(delivered) : '–') },
];

const times = ({ p50, p95, p99 }: ServiceLevel['delivered']): string =>
  [p50, p95, p99]
    .map((seconds) => waitInWords(seconds === Number.POSITIVE_INFINITY ? null : seconds))
    .join(' · ');
