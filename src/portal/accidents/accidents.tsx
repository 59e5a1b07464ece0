import { accidents, unassigned } from '../../core/fleet/lists/accidents.ts';
import { vinOf } from '../../core/fleet/lists/vin.ts';
import { levelNames } from '../../core/webhooks/notifications/types.ts';
import type { Offered } from '../../ui/forms/forms.tsx';
import { accidentColumns } from '../../ui/lists/columns.tsx';
import type { Search } from '../../ui/lists/filters.tsx';
import { type RecordList, recordFile, recordPage } from '../../ui/lists/list.tsx';
import { levelOptions } from '../../ui/parts.tsx';
import { type Accident, accidentsWithVehicles } from '../../ui/read/named-lists.ts';

/** The states, each with its accidents; without one, all. */
const states: { [state: string]: { name: string; means: string; query: Search['query'] } } = {
  '': { name: 'All', means: 'All accidents, newest first.', query: {} },
  open: {
    name: 'Needs attention',
    means:
      'Needs attention: nobody has acknowledged or closed the accident yet, and it is no false alarm.',
    query: { attention: ['true'] },
  },
  report: {
    name: 'Report ready',
    means: 'Report ready: level 3 has been reached.',
    query: { minLevel: ['3'], dismissed: ['false'], closed: ['false'] },
  },
  false: {
    name: 'False alarm',
    means: 'False alarm: the provider has dismissed the accident.',
    query: { dismissed: ['true'], closed: ['false'] },
  },
  closed: {
    name: 'Closed',
    means: 'Closed: somebody in your account has closed the accident.',
    query: { closed: ['true'] },
  },
};

/** Vehicles are also found by a VIN that only accidents have. */
function queryOf({ asked, query }: Search): Search['query'] {
  const { state = '', level, vehicle } = asked;
  const { vehicleIds = [], ...named } = query;
  const { minLevel = ['1'], maxLevel = ['3'], ...others } = states[state]?.query ?? {};
  return {
    ...{ ...named, ...others },
    minLevel: [String(Math.max(Number(minLevel[0]), Number(level || 1)))],
    maxLevel: [String(Math.min(Number(maxLevel[0]), Number(level || 3)))],
    ...(vehicle && { vehicles: [vinOf(vehicle) || vehicle, ...vehicleIds] }),
  };
}

/** `2 Verified` */
const inWords = (level: number): string => `${level} ${levelNames[level - 1]}`;

const declared = {
  path: '/portal/accidents',
  title: 'Accidents',
  words: ['accident', 'accidents'],
  list: accidentsWithVehicles,
  filters: {
    state: {
      label: 'State',
      options: Object.entries(states).map(([state, { name }]): Offered => [state, name]),
      views: true,
    },
    level: { label: 'Level', options: [['', 'Any'], ...levelOptions] },
    vehicle: { label: 'Vehicle', placeholder: 'Name, plate or VIN' },
    driver: { label: 'Driver', placeholder: 'Name' },
    assignedTo: {
      label: 'Assigned to',
      parameter: 'assignedTo',
      people: [
        ['', 'Anybody'],
        [unassigned, 'Nobody'],
      ],
    },
  },
  query: queryOf,
  file: {
    name: 'accidents',
    columns: { ...accidents.itemFields, notificationLevel: { holds: 'text', nullable: false } },
    heads: {
      ...{ vehicleName: 'Vehicle', vin: 'VIN', notificationLevel: 'Level', severity: 'Severity' },
      ...{ driverName: 'Driver', 'location.address': 'Place', maxSpeedKph: 'Speed (km/h)' },
      ...{ eventTime: 'Time', licensePlate: 'Plate', connectionName: 'Source' },
    },
    inWords: ({ notificationLevel, levels }, time) => ({
      notificationLevel: inWords(notificationLevel),
      levels: levels.map((one) => `${inWords(one.notificationLevel)} ${time(one.receivedAt)}`),
    }),
  },
  show: ({ asked: { state = '' } }) => ({
    lead: states[state]?.means,
    columns: accidentColumns,
    empty: {
      icon: 'shield-check',
      title: state ? 'No accidents in this state' : 'No accidents yet',
    },
  }),
} satisfies RecordList<Accident>;

export const list = recordPage(declared);
export const file = recordFile(declared);
