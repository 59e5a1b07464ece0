import type { accidentsWithVehicles } from '../../fleet/named.ts';
import { State } from '../ui/states.tsx';

/** An accident as its list shows it. */
export type Accident = ReturnType<typeof accidentsWithVehicles.present>;

/** Whether an accident still waits for its report: neither level 3 nor a false alarm. */
export const isOpen = ({ notificationLevel, dismissed }: Accident): boolean =>
  notificationLevel < 3 && !dismissed;

/** The state of an accident in words. */
export const AccidentState = ({ accident }: { accident: Accident }) =>
  accident.dismissed ? (
    <State mood="quiet">False alarm</State>
  ) : isOpen(accident) ? (
    <State mood="warn" icon="circle-dot">
      Open
    </State>
  ) : (
    <State mood="ok" icon="file-text">
      Report ready
    </State>
  );
