import { incidentTypes } from '../../fleet/incidents/types.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import { eventsWithDrivers, type NamedEvent } from '../../fleet/named-lists.ts';
import { column } from '../ui/columns.tsx';
import { nameOf } from '../ui/filters.tsx';
import type { Offered } from '../ui/forms.tsx';
import { type RecordList, recordPage } from '../ui/list.tsx';
import { recordFile } from '../ui/list-file.ts';
import { Clock } from '../ui/time.tsx';

const risks: Offered[] = [
  ['', 'Any'],
  ['2', 'Risk 2 and up'],
  ['3', 'Risk 3 and up'],
  ['4', 'Risk 4 and 5'],
  ['5', 'Risk 5 only'],
];
const types = [['', 'All types'], ...incidentTypes.map((type) => [type, type])] as Offered[];

const events = {
  path: '/portal/events',
  title: 'Safety events',
  words: ['event', 'events'],
  list: eventsWithDrivers,
  usualDays: 7,
  filters: {
    risk: { label: 'Risk', options: risks, parameter: 'minEventRisk' },
    type: { label: 'Incident', options: types, parameter: 'eventTypes' },
    vehicle: { label: 'Vehicle', placeholder: 'Name or plate' },
    driver: { label: 'Driver', placeholder: 'Name' },
    vin: { label: 'VIN' },
    connection: { label: 'Connection' },
  },
  file: { name: 'safety-events', columns: safetyEvents.itemFields },
  show: ({ asked, words, connections }) => ({
    // "Risk 4 and 5, November 16 – 22", "Speeding, November 20".
    lead: [asked.risk && words.risk, asked.type, words.from].filter(Boolean).join(', '),
    columns: [
      ...[column.incident, column.risk, column.vehicle, column.driver, column.place, column.speed],
      {
        head: 'Source',
        look: 'sub',
        cell: ({ connectionId, tSP }) => nameOf(connections, connectionId) ?? tSP,
      },
      { ...column.started, cell: ({ startedAt }) => <Clock at={startedAt} /> },
    ],
    at: ({ startedAt }) => startedAt,
    empty: {
      icon: 'shield-check',
      title: 'No safety events in the last 7 days',
      text: 'New events appear here as they arrive.',
    },
  }),
} satisfies RecordList<NamedEvent>;

export const list = recordPage(events);
export const file = recordFile(events);
