import type { NamedEvent } from '../../fleet/named-lists.ts';
import { shortPlaceName } from './map.tsx';
import { DriverName, eventPath } from './records.tsx';
import { Risk } from './states.tsx';
import type { Column } from './table.tsx';
import { Time } from './time.tsx';
import { Speed } from './units.tsx';

/** What tables of safety events have in common. */
export const eventColumn = {
  incident: {
    head: 'Incident',
    href: eventPath,
    cell: ({ translatedIncidentTypes: types }) => types.join(', '),
  },
  risk: {
    head: 'Risk',
    look: 'card-side nowrap',
    cell: ({ eventRisk }) => <Risk risk={eventRisk} named />,
  },
  vehicle: { head: 'Vehicle', look: 'md:min-w-24', cell: ({ vehicleName }) => vehicleName },
  driver: { head: 'Driver', cell: (event) => <DriverName {...event} /> },
  speed: { head: 'Speed', look: 'nowrap', cell: (event) => <Speed {...event} /> },
} satisfies { [name: string]: Column<NamedEvent> };

/** The columns of safety events on the page of a vehicle or driver. */
export const eventColumns = (of: 'vehicle' | 'driver'): Column<NamedEvent>[] => [
  {
    ...eventColumn.incident,
    more: ({ location }) => location && <div class="sub">{shortPlaceName(location)}</div>,
  },
  eventColumn.risk,
  of === 'vehicle' ? eventColumn.driver : eventColumn.vehicle,
  eventColumn.speed,
  { head: 'Time', look: 'nowrap', cell: ({ startedAt }) => <Time at={startedAt} /> },
];
