import { waitInWords } from '../../webhooks/deliveries/latency.ts';
import type { levelsOf, ServiceLevel } from '../../webhooks/service-levels.ts';
import { percent } from '../ui/format.ts';
import { Panel, Table } from '../ui/parts.tsx';

/** How long notifications took from their receipt to the first attempt and to their delivery. Nothing while there are none. */
export const DeliveryTimes = ({ levels: { day, month } }: { levels: ReturnType<typeof levelsOf> }) => {
  const shown: [name: string, level: ServiceLevel][] = [
    ['Accidents, 24 hours', day.accidents],
    ['Accidents, 30 days', month.accidents],
    ['Events, 24 hours', day.events],
    ['Events, 30 days', month.events],
  ];
  if (shown.every(([, { count }]) => count === 0)) return null;
  return (
    <Panel id="delivery-times" title="Delivery times" side={<p>50% · 95% · 99% of deliveries within</p>}>
      <Table
        caption="Time from receipt to the first attempt and to success"
        head={['Deliveries', 'Count', 'Attempted in 5 s', 'First attempt', 'Success']}
      >
        {shown.map(([name, { count, inTime, firstAttempt, delivered }]) => (
          <tr>
            <td>{name}</td>
            <td data-label="Count">{count.toLocaleString('en')}</td>
            <td data-label="Attempted in 5 s">{inTime === null ? '–' : percent(inTime, 1)}</td>
            <td data-label="First attempt">{count > 0 ? times(firstAttempt) : '–'}</td>
            <td data-label="Success">{count > 0 ? times(delivered) : '–'}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
};

const times = ({ p50, p95, p99 }: ServiceLevel['delivered']): string =>
  [p50, p95, p99]
    .map((seconds) => waitInWords(seconds === Number.POSITIVE_INFINITY ? null : seconds))
    .join(' · ');
