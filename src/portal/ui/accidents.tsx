import type { accidentsWithVehicles } from '../../fleet/named.ts';
import { shortPlaceName } from './map.tsx';
import { Table } from './parts.tsx';
import { accidentPath } from './records.tsx';
import { Level, State } from './states.tsx';
import { Time } from './time.tsx';

/** Accidents as rows, each with its state and who takes care of it. */
export const Accidents = ({ accidents }: { accidents: Accident[] }) => (
  <Table
    caption="Accidents"
    head={['Vehicle', 'State', 'Level', 'VIN', 'Place', 'Provider', 'Report', 'Time']}
    flow
  >
    {accidents.map((accident) => (
      <tr>
        <td class="card-title">
          <a class="cover" href={accidentPath(accident)}>
            {accident.vehicleName ?? 'Unknown vehicle'}
          </a>
        </td>
        <td class="card-side">
          <AccidentState accident={accident} />
          <HandledBy accident={accident} />
        </td>
        <td class="nowrap">
          <Level level={accident.notificationLevel} />
        </td>
        <td>
          <code>{accident.vin}</code>
        </td>
        <td>{shortPlaceName(accident.location)}</td>
        <td>{accident.tSP}</td>
        <td class="nowrap">
          {accident.reportUrl ? (
            <a class="over" href={accident.reportUrl} rel="noreferrer">
              Open report
            </a>
          ) : (
            accident.reportReady && <span class="sub">{accident.tSP} has it</span>
          )}
        </td>
        <td class="nowrap">
          <Time at={accident.eventTime} />
        </td>
      </tr>
    ))}
  </Table>
);

/** An accident as its list shows it. */
export type Accident = ReturnType<typeof accidentsWithVehicles.present>;

/** Who has closed an accident or, while it is not closed, acknowledged it. */
const HandledBy = ({ accident: { acknowledged, closed } }: { accident: Accident }) =>
  closed ? (
    <p class="sub">by {closed.by}</p>
  ) : acknowledged ? (
    <p class="sub">Acknowledged by {acknowledged.by}</p>
  ) : null;

/** The state of an accident in words: open, until it has its report or turns out to be a false alarm. */
export const AccidentState = ({ accident }: { accident: Accident }) =>
  accident.closed ? (
    <State mood="quiet" icon="circle-check">
      Closed
    </State>
  ) : accident.dismissed ? (
    <State mood="quiet">False alarm</State>
  ) : accident.notificationLevel < 3 ? (
    <State mood="warn" icon="circle-dot">
      Open
    </State>
  ) : (
    <State mood="ok" icon="file-text">
      Report ready
    </State>
  );
