import type { accidentsWithVehicles } from '../../fleet/named-lists.ts';
import { levelNames } from '../../webhooks/notifications/types.ts';
import type { Offered } from './forms.tsx';
import { shortPlaceName } from './map.tsx';
import { accidentPath, reportPath } from './records.tsx';
import { Level, State } from './states.tsx';
import type { Column } from './table.tsx';
import { Time } from './time.tsx';

export const levelOptions = levelNames.map(
  (name, i): Offered => [String(i + 1), `Level ${i + 1}, ${name.toLowerCase()}`],
);

export type Accident = ReturnType<typeof accidentsWithVehicles.present>;

/** The columns of accidents, each with its state and who handles it. */
export const accidentColumns: Column<Accident>[] = [
  { head: 'Vehicle', href: accidentPath, cell: ({ vehicleName }) => vehicleName ?? 'Unknown vehicle' },
  {
    head: 'State',
    look: 'card-side',
    cell: (accident) => <AccidentState accident={accident} />,
    more: (accident) => <HandledBy accident={accident} />,
  },
  { head: 'Level', look: 'nowrap', cell: ({ notificationLevel }) => <Level level={notificationLevel} /> },
  { head: 'VIN', cell: ({ vin }) => <code>{vin}</code> },
  { head: 'Place', cell: ({ location }) => shortPlaceName(location) },
  { head: 'Provider', cell: ({ tSP }) => tSP },
  { head: 'Report', look: 'nowrap', cell: (accident) => <ReportLink accident={accident} /> },
  { head: 'Time', look: 'nowrap', cell: ({ eventTime }) => <Time at={eventTime} /> },
];

/** The columns where only half a page is theirs. */
export const narrowAccidentColumns = accidentColumns.filter(({ head }) =>
  ['Vehicle', 'State', 'Level', 'Place', 'Time'].includes(head),
);

/** Who has closed an accident, otherwise who has acknowledged it. */
const HandledBy = ({ accident: { acknowledged, closed } }: { accident: Accident }) =>
  closed ? (
    <p class="sub">by {closed.by}</p>
  ) : acknowledged ? (
    <p class="sub">Acknowledged by {acknowledged.by}</p>
  ) : null;

const ReportLink = ({ accident }: { accident: Accident }) => {
  const { reportUrl, reportReady, tSP } = accident;
  if (!reportUrl) return reportReady ? <span class="sub">{tSP} has it</span> : null;
  return (
    <a class="over" href={reportPath(accident)} rel="noreferrer">
      Open report
    </a>
  );
};

/** The state of an accident: open until it has its report or is dismissed. */
export function AccidentState({ accident }: { accident: Accident }) {
  if (accident.closed) return <State mood="quiet" icon="circle-check" children="Closed" />;
  if (accident.dismissed) return <State mood="quiet">False alarm</State>;
  if (accident.notificationLevel < 3) return <State mood="warn" icon="circle-dot" children="Open" />;
  return <State mood="ok" icon="file-text" children="Report ready" />;
}
